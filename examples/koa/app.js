import Koa from 'koa'
import { rateLimit } from 'tidegate/koa'

const app = new Koa()
app.use(rateLimit({ limit: 5, window: '1m' }))
app.use((context) => {
  context.body = 'hello\n'
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`)
})
