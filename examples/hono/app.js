import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { rateLimit } from 'tidegate/hono'

const app = new Hono()
app.use(rateLimit({ limit: 5, window: '1m' }))
app.get('/', (context) => context.text('hello\n'))

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/`)
})
