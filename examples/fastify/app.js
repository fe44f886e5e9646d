import { fastify } from 'fastify'
import { rateLimit } from 'tidegate/fastify'

const app = fastify()
app.register(rateLimit, { limit: 5, window: '1m' })
app.get('/', () => 'hello\n')

// Its own limit besides that of all routes, decided in one step.
app.get('/login', { config: { tidegate: { limit: 1, window: '1m' } } }, () => 'welcome\n')

console.log(`${await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })}/`)
