import * as fc from 'fast-check'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'

const LIMIT = 500
const WINDOW_MS = 10_000

type Damage = (state: Buffer) => Buffer

const at = fc.double({ min: 0, max: 0.999, noNaN: true })
const damages: fc.Arbitrary<Damage> = fc.oneof(
  fc.uint8Array({ maxLength: 400 }).map(
    (bytes): Damage =>
      () =>
        Buffer.from(bytes),
  ),
  fc.uint8Array({ minLength: 250, maxLength: 400 }).map(
    (bytes): Damage =>
      () =>
        Buffer.from([...bytes, 2]),
  ),
  fc.tuple(at, fc.integer({ min: 1, max: 255 })).map(
    ([where, bits]): Damage =>
      (state) => {
        const copy = Buffer.from(state)
        const index = Math.floor(where * copy.length)
        copy[index] = (copy[index] as number) ^ bits
        return copy
      },
  ),
  // In the trailer, where it hurts most.
  fc.tuple(fc.integer({ min: 1, max: 39 }), fc.integer({ min: 0, max: 255 })).map(
    ([fromEnd, value]): Damage =>
      (state) => {
        const copy = Buffer.from(state)
        copy[Math.max(0, copy.length - fromEnd)] = value
        return copy
      },
  ),
  at.map(
    (where): Damage =>
      (state) =>
        state.subarray(0, Math.floor(where * state.length)),
  ),
  at.map(
    (where): Damage =>
      (state) =>
        state.subarray(Math.floor(where * state.length)),
  ),
  fc.uint8Array({ minLength: 1, maxLength: 20 }).map(
    (bytes): Damage =>
      (state) =>
        Buffer.concat([state, bytes]),
  ),
)

// The kind of fault: one key's damage that fails the script, and with it requests that have been charged.
describeRedis('damaged states in Redis', (redis) => {
  test.each([
    ['short', 5],
    ['long', 120],
  ])(
    'a %s state with any damage: its own request is answered or refused, its neighbours are served',
    async (_, entries) => {
      let now = 1_700_000_000_000
      const store = redisStore(redis.client, { guarded: false, clock: () => now })
      const limiter = createLimiter({ name: 'fuzz', limit: LIMIT, window: WINDOW_MS, store })
      for (let i = 0; i < entries; i++) {
        now += 10
        await limiter.limit('whole')
      }
      const prefix = 'tg:{whole}:'
      const [key] = await redis.client.keys(`${prefix}*`)
      const whole = (await redis.client.getBuffer(key as string)) as Buffer
      const damaged = (key as string).replace('{whole}', '{bad}')
      const neighbour = (key as string).replace('{whole}', '{n}')
      const unharmed = fc.asyncProperty(
        damages,
        fc.integer({ min: 0, max: 12_000 }),
        // The large ones are refused, and their wait is searched for.
        fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: LIMIT - 119, max: LIMIT })),
        async (damage, later, cost) => {
          await redis.client.del(neighbour)
          const state = damage(whole)
          if (state.length === 0) return
          await redis.client.set(damaged, state)
          now += later
          const [, first, bad, second] = await Promise.allSettled([
            limiter.limit('before'),
            limiter.limit('n'),
            limiter.limit('bad', { cost }),
            limiter.limit('n'),
          ])
          now -= later
          expect(first).toMatchObject({ status: 'fulfilled', value: { used: 1 } })
          expect(second).toMatchObject({ status: 'fulfilled', value: { used: 2 } })
          if (bad?.status === 'rejected') {
            expect(bad.reason).toMatchObject({ code: 'ERR_STATE_UNREADABLE' })
            expect(await redis.client.getBuffer(damaged)).toEqual(state)
          }
          expect(await redis.client.strlen(damaged)).toBeLessThan(whole.length + 500)
        },
      )
      await fc.assert(unharmed, { numRuns: 1500 })
    },
  )

  test('a log cut short at its front, byte by byte: the wait of what it refuses is searched for, and neighbours are served', async () => {
    let now = 1_700_000_000_000
    const store = redisStore(redis.client, { guarded: false, clock: () => now })
    const limiter = createLimiter({ name: 'cut', limit: LIMIT, window: WINDOW_MS, store })
    for (let i = 0; i < 60; i++) {
      now += 10
      await limiter.limit('log')
    }
    const [key] = await redis.client.keys('tg:{log}:cut*')
    const whole = (await redis.client.getBuffer(key as string)) as Buffer
    for (let lost = 1; lost < 400; lost++) {
      await redis.client.set(key as string, whole.subarray(lost))
      for (const cost of [LIMIT, LIMIT - 20, LIMIT - 40]) {
        const [, neighbour, cut] = await Promise.allSettled([
          limiter.limit('first', { cost: 0 }),
          limiter.limit('neighbour', { cost: 0 }),
          limiter.limit('log', { cost }),
        ])
        expect(neighbour, `${lost} bytes`).toMatchObject({ status: 'fulfilled', value: { used: 0 } })
        if (cut?.status === 'rejected') expect(cut.reason).toMatchObject({ code: 'ERR_STATE_UNREADABLE' })
      }
    }
  })
})
