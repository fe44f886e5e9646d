import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { rateLimit } from 'tidegate/node'
import { adapterOptions, type Framework, firstHeader, Handlers, listen, stop } from './framework.ts'

export const nodeFramework: Framework = {
  name: 'node:http',
  start: async (options) => {
    const handlers = new Handlers()
    const { answer } = options
    const limited = rateLimit<IncomingMessage, ServerResponse>({
      ...adapterOptions<IncomingMessage, ServerResponse>(options, firstHeader),
      ...(answer !== undefined && { handler: (_request, response) => response.end(answer) }),
      onError: () => undefined,
    })
    const server = createServer((request, response) => {
      limited(request, response, () => void handle(handlers, request, response))
    })
    await listen(server)
    return { server, handled: () => handlers.handled, close: () => stop(server) }
  },
}

async function handle(handlers: Handlers, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/echo') {
    request.pipe(response)
    return
  }
  try {
    if (request.url === '/') response.end(handlers.ok())
    else if (request.url === '/fail') handlers.fail()
    else if (request.url === '/slow') response.end(await handlers.slow())
    else if (request.url === '/release') response.end(handlers.release())
  } catch {
    response.statusCode = 500
    response.end('failed')
  }
}
