import { createServer } from 'node:http'
import { rateLimit } from 'tidegate/node'

const limited = rateLimit({ limit: 5, window: '1m' })
const server = createServer((request, response) => {
  limited(request, response, () => response.end('hello\n'))
})

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`)
})
