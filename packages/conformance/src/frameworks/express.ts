import { createServer } from 'node:http'
import type { Express, Request, Response } from 'express'
import { rateLimit } from 'tidegate/express'
import { adapterOptions, type Framework, firstHeader, Handlers, listen, stop } from './framework.ts'

/** Either major version of Express, given what makes an application. */
export function expressFramework(name: string, create: () => Express): Framework {
  return {
    name,
    start: async (options) => {
      const handlers = new Handlers()
      const app = create()
      app.disable('etag')
      // Without it a handler that fails is printed.
      app.set('env', 'test')
      const { answer } = options
      app.use(
        rateLimit({
          ...adapterOptions<Request, Response>(options, firstHeader),
          ...(answer !== undefined && { handler: (_request, response) => response.send(answer) }),
        }),
      )
      app.get('/', (_request, response) => void response.send(handlers.ok()))
      app.get('/fail', () => handlers.fail())
      app.get('/slow', (_request, response) => void handlers.slow().then((text) => response.send(text)))
      app.get('/release', (_request, response) => void response.send(handlers.release()))
      app.post('/echo', (request, response) => void request.pipe(response))
      const server = createServer(app)
      await listen(server)
      return { server, handled: () => handlers.handled, close: () => stop(server) }
    },
  }
}
