import { serve } from '@hono/node-server'
import { rateLimit } from 'tidegate/fetch'

// A Request does not say where it came from; the server does, in its own way.
const limited = rateLimit({
  limit: 5,
  window: '1m',
  address: (_request, { incoming }) => incoming.socket.remoteAddress,
})

// The handler of a route in Next.js, of Bun.serve or of Deno.serve is wrapped just so.
const handle = limited(() => new Response('hello\n'))

serve({ fetch: handle, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/`)
})
