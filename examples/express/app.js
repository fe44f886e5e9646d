import express from 'express'
import { rateLimit } from 'tidegate/express'

const app = express()

// Five a minute for each client, and a hundred an hour for all of them, in one step: a refusal by one charges none.
app.use(
  rateLimit({
    limits: [
      { name: 'client', limit: 5, window: '1m' },
      { name: 'everybody', limit: 100, window: '1h', key: [] },
    ],
  }),
)
app.get('/', (_request, response) => void response.send('hello\n'))

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`)
})
