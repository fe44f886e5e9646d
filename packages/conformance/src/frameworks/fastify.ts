import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { rateLimit } from 'tidegate/fastify'
import { acceptUpgrades, adapterOptions, type Framework, firstHeader, Handlers } from './framework.ts'

export const fastifyFramework: Framework = {
  name: 'Fastify 5',
  start: async (options) => {
    const handlers = new Handlers()
    const app = fastify({ forceCloseConnections: true })
    const { answer } = options
    app.register(rateLimit, {
      ...adapterOptions<FastifyRequest, FastifyReply>(options, firstHeader),
      ...(answer !== undefined && { handler: (_request, reply) => reply.send(answer) }),
    })
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    app.get('/', () => handlers.ok())
    app.get('/fail', () => handlers.fail())
    app.get('/slow', () => handlers.slow())
    app.get('/release', () => handlers.release())
    app.post('/echo', async ({ body }, reply) => reply.send(body))
    acceptUpgrades(app.server)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { server: app.server, handled: () => handlers.handled, close: () => app.close() }
  },
}
