import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKinds } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { startRedisTls, type TlsService } from './services/redis-tls.ts'

const skipped = findPart('redis-server') === undefined

describe.skipIf(skipped)(`TLS ${skipped ? howToInstall('redis-server') : ''}`, () => {
  let server: TlsService
  beforeAll(async () => {
    server = await startRedisTls()
  })
  afterAll(() => server?.stop())

  test.each(clientKinds)('$name: decisions travel encrypted', async ({ name, single }) => {
    const { client, close } = await single(server.tlsPort, { authority: server.authority })
    try {
      const limiter = createLimiter({
        name: 'tls',
        limit: 3,
        window: '1h',
        store: redisStore(client, { guarded: false }),
      })
      const decisions = await Promise.all([1, 2, 3, 4].map(() => limiter.limit(name)))
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false])
    } finally {
      close()
    }
  })
})
