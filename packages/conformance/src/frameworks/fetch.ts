import { rateLimit } from 'tidegate/fetch'
import { adapterOptions, type Framework, Handlers } from './framework.ts'
import { serveFetch } from './hono.ts'

interface Bindings {
  readonly incoming: { readonly socket: { readonly remoteAddress?: string } }
}

export const fetchFramework: Framework = {
  name: 'fetch',
  start: (options) => {
    const handlers = new Handlers()
    const { answer } = options
    const limited = rateLimit<[Bindings]>({
      ...adapterOptions<Request, Response>(options, ({ headers }, name) => headers.get(name) ?? undefined),
      address: (_request, { incoming }) => incoming.socket.remoteAddress,
      ...(answer !== undefined && { handler: (_request, { status }) => new Response(answer, { status }) }),
    })
    const handle = limited(async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/') return new Response(handlers.ok())
      if (pathname === '/fail') return handlers.fail()
      if (pathname === '/slow') return new Response(await handlers.slow())
      if (pathname === '/release') return new Response(handlers.release())
      return new Response(await request.arrayBuffer())
    })
    const withoutErrors = (request: Request, bindings: Bindings) =>
      handle(request, bindings).catch(() => new Response('failed', { status: 500 }))
    return serveFetch(withoutErrors, handlers)
  },
}
