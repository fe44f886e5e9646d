import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import express, { type Express } from 'express'
import { rateLimit } from 'tidegate/express'
import type { HttpWarning } from 'tidegate/http'
import { afterEach, describe, expect, test } from 'vitest'
import { Client } from './client.ts'
import { listen, portOf, stop } from './framework.ts'

const express4 = createRequire(import.meta.url)('express4') as typeof express
const open: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('%s', (_name, create) => {
  async function serve(app: Express): Promise<Client> {
    const server = createServer(app)
    await listen(server)
    const client = new Client(portOf({ server, handled: () => 0, close: () => stop(server) }))
    open.push(
      () => stop(server),
      () => client.close(),
    )
    return client
  }

  test('a limit on one route leaves the others alone, and counts by the pattern of the route', async () => {
    const app = create()
    const limits = [{ name: 'item', key: ['route', 'client'], limit: 2, window: '1m' }]
    app.get('/items/:id', rateLimit({ limits }), (_request, response) => void response.send('item'))
    app.get('/', (_request, response) => void response.send('ok'))
    const client = await serve(app)
    const statuses: number[] = []
    for (const path of ['/items/1', '/items/2', '/ITEMS/3/', '/', '/']) statuses.push((await client.ask(path)).status)
    expect(statuses).toEqual([200, 200, 429, 200, 200])
  })

  test("believes the proxies that Express's own setting names, and warns where that is everybody", async () => {
    for (const [setting, codes] of [
      ['loopback', []],
      [true, ['TIDEGATE_TRUSTS_EVERYONE']],
    ] as const) {
      const warnings: HttpWarning[] = []
      const app = create()
      app.set('trust proxy', setting)
      app.use(rateLimit({ limit: 1, window: '1m', warn: (warning) => warnings.push(warning) }))
      app.get('/', (_request, response) => void response.send('ok'))
      const client = await serve(app)
      const from = async (address: string) =>
        (await client.ask('/', { headers: { 'X-Forwarded-For': address } })).status
      expect([await from('192.0.2.1'), await from('192.0.2.1:99'), await from('192.0.2.2')]).toEqual([200, 429, 200])
      expect(warnings.map(({ code }) => code)).toEqual(codes)
    }
  })

  test('warns of a middleware that is in the path twice', async () => {
    const warnings: HttpWarning[] = []
    const app = create()
    const limit = rateLimit({ limit: 10, window: '1m', warn: (warning) => warnings.push(warning) })
    app.use(limit)
    app.get('/', limit, (_request, response) => void response.send('ok'))
    const client = await serve(app)
    await client.ask()
    expect(warnings.map(({ code }) => code)).toEqual(['TIDEGATE_COUNTED_TWICE'])
  })

  test('a handler can let a refused request pass', async () => {
    const app = create()
    app.use(rateLimit({ limit: 0, window: '1m', handler: (_request, _response, next) => next() }))
    app.get('/', (_request, response) => void response.status(200).send('ok'))
    const client = await serve(app)
    expect(await client.ask()).toMatchObject({ status: 200, body: 'ok' })
  })

  test('what its options throw is an error of the application', async () => {
    const app = create()
    app.use(
      rateLimit({
        limit: 1,
        window: '1m',
        keyGenerator: async () => {
          throw new Error('no session')
        },
      }),
    )
    app.use(((error, _request, response, _next) => {
      response.status(500).send((error as Error).message)
    }) as express.ErrorRequestHandler)
    const client = await serve(app)
    expect(await client.ask()).toMatchObject({ status: 500, body: 'no session' })
  })

  test('a request that something else has answered meanwhile is left alone', async () => {
    const app = create()
    let decided: () => void = () => undefined
    const waiting = new Promise<void>((resolve) => {
      decided = resolve
    })
    app.use((_request, response, next) => {
      next()
      response.status(504).send('too late')
      decided()
    })
    app.use(rateLimit({ limit: 0, window: '1m', keyGenerator: () => waiting.then(() => 'ann') }))
    const client = await serve(app)
    expect(await client.ask()).toMatchObject({ status: 504, body: 'too late' })
    expect(await client.ask()).toMatchObject({ status: 504 })
  })
})
