import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { rateLimit } from 'tidegate/hono'
import { type Application, acceptUpgrades, adapterOptions, type Framework, Handlers, stop } from './framework.ts'

export const honoFramework: Framework = {
  name: 'Hono 4',
  start: (options) => {
    const handlers = new Handlers()
    const app = new Hono()
    const { answer } = options
    app.onError((_error, context) => context.text('failed', 500))
    app.use(
      rateLimit({
        ...adapterOptions<Context, Context>(options, (context, name) => context.req.header(name)),
        ...(answer !== undefined && {
          handler: (_context, _next, { status }) => new Response(answer, { status }),
        }),
      }),
    )
    app.get('/', (context) => context.text(handlers.ok()))
    app.get('/fail', () => handlers.fail())
    app.get('/slow', async (context) => context.text(await handlers.slow()))
    app.get('/release', (context) => context.text(handlers.release()))
    app.post('/echo', async (context) => context.body(await context.req.arrayBuffer()))
    return serveFetch(app.fetch, handlers)
  },
}

/** Serves a fetch-style application by a server of Node. */
export function serveFetch(
  fetch: (request: Request, bindings: { incoming: { socket: { remoteAddress?: string } } }) => unknown,
  handlers: Handlers,
): Promise<Application> {
  return new Promise((resolve) => {
    const options = { fetch: fetch as Parameters<typeof serve>[0]['fetch'], port: 0, hostname: '127.0.0.1' }
    const server = serve(options, () => {
      resolve({ server, handled: () => handlers.handled, close: () => stop(server) })
    }) as Server
    acceptUpgrades(server)
  })
}
