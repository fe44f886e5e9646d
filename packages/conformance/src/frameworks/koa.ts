import { createServer } from 'node:http'
import Koa, { type Context } from 'koa'
import { rateLimit } from 'tidegate/koa'
import { adapterOptions, type Framework, firstHeader, Handlers, listen, stop } from './framework.ts'

export const koaFramework: Framework = {
  name: 'Koa 3',
  start: async (options) => {
    const handlers = new Handlers()
    const app = new Koa()
    app.silent = true
    const { answer } = options
    app.use(
      rateLimit({
        ...adapterOptions<Context, Context>(options, firstHeader),
        ...(answer !== undefined && {
          handler: (context) => {
            context.body = answer
          },
        }),
      }),
    )
    app.use(async (context) => {
      if (context.path === '/') context.body = handlers.ok()
      else if (context.path === '/fail') handlers.fail()
      else if (context.path === '/slow') context.body = await handlers.slow()
      else if (context.path === '/release') context.body = handlers.release()
      else if (context.path === '/echo') context.body = context.req
    })
    const server = createServer(app.callback())
    await listen(server)
    return { server, handled: () => handlers.handled, close: () => stop(server) }
  },
}
