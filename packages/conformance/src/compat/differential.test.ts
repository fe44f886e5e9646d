import fc from 'fast-check'
import { expressRateLimitStore } from 'tidegate/stores/express-rate-limit'
import { fastifyRateLimitStore } from 'tidegate/stores/fastify-rate-limit'
import { honoRateLimiterStore } from 'tidegate/stores/hono-rate-limiter'
import { throttlerStorage } from 'tidegate/stores/nestjs-throttler'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Answer, Client } from '../frameworks/client.ts'
import { type Served, serveExpress, serveFastify, serveHono, serveNest } from './served.ts'

/** A limit, and requests of users one after the other, each so long after the one before. */
interface Story {
  readonly limit: number
  readonly windowMs: number
  readonly steps: readonly { readonly user: string; readonly path: string; readonly afterMs: number }[]
}

const storyOf = (paths: readonly string[]): fc.Arbitrary<Story> =>
  fc.record({
    limit: fc.integer({ min: 1, max: 4 }),
    windowMs: fc.integer({ min: 1, max: 60 }).map((seconds) => seconds * 1000),
    steps: fc.array(
      fc.record({
        user: fc.constantFrom('ann', 'bob'),
        path: fc.constantFrom(...paths),
        afterMs: fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 40_000 })),
      }),
      { minLength: 5, maxLength: 30 },
    ),
  })

/** Tells the same story to both servers, and compares what each says to every request. */
async function compare(
  { steps }: Story,
  [own, ours]: readonly [Served, Served],
  shown: (answer: Answer) => unknown,
): Promise<void> {
  const clients = [new Client(own.port), new Client(ours.port)] as const
  try {
    for (const [i, { user, path, afterMs }] of steps.entries()) {
      vi.setSystemTime(Date.now() + afterMs)
      const ask = { headers: { 'X-User': user } }
      const [theirs, mine] = [await clients[0].ask(path, ask), await clients[1].ask(path, ask)]
      expect(shown(mine), `step ${i}: ${user}`).toEqual(shown(theirs))
    }
  } finally {
    for (const client of clients) client.close()
    await own.close()
    await ours.close()
  }
}

const RUNS = { numRuns: 25 }

describe('our store in a fixed window answers as their own memory does', () => {
  // The time alone is the test's: everything else runs as it does.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 }))
  afterEach(() => void vi.useRealTimers())

  test.each(['draft-6', 'draft-7', 'draft-8'] as const)(
    'express-rate-limit with headers of %s',
    async (standardHeaders) => {
      const property = fc.asyncProperty(storyOf(['/', '/fail']), async (story) => {
        const { limit, windowMs } = story
        const options = { limit, windowMs, standardHeaders, legacyHeaders: true }
        const store = expressRateLimitStore({ algorithm: 'fixed-window' })
        await compare(story, [await serveExpress(options), await serveExpress({ ...options, store })], shown)
      })
      await fc.assert(property, RUNS)
    },
  )

  test('@fastify/rate-limit, on routes with a limit of their own too, and with a ban', async () => {
    const property = fc.asyncProperty(storyOf(['/', '/tight']), fc.integer({ min: -1, max: 2 }), async (story, ban) => {
      const options = { max: story.limit, timeWindow: story.windowMs, ban }
      const store = fastifyRateLimitStore({ algorithm: 'fixed-window' })
      await compare(story, [await serveFastify(options), await serveFastify({ ...options, store })], shown)
    })
    await fc.assert(property, RUNS)
  })

  test('@fastify/rate-limit, where who goes on asking stays out: continueExceeding', async () => {
    const property = fc.asyncProperty(storyOf(['/', '/tight']), fc.integer({ min: -1, max: 2 }), async (story, ban) => {
      const options = { max: story.limit, timeWindow: story.windowMs, ban, continueExceeding: true }
      const store = fastifyRateLimitStore({ algorithm: 'fixed-window' })
      await compare(story, [await serveFastify(options), await serveFastify({ ...options, store })], shown)
    })
    await fc.assert(property, RUNS)
  })

  test('@fastify/rate-limit, where that takes longer each time: exponentialBackoff', async () => {
    // Its memory announces the longer wait and forgets it after a window: until then both say the same.
    const pressing = storyOf(['/', '/tight']).map((story) => {
      return {
        ...story,
        steps: story.steps.slice(0, 10).map((step) => ({ ...step, afterMs: step.afterMs % (story.windowMs / 10) })),
      }
    })
    const property = fc.asyncProperty(pressing, fc.integer({ min: -1, max: 2 }), async (story, ban) => {
      const options = { max: story.limit, timeWindow: story.windowMs, ban, exponentialBackoff: true }
      const store = fastifyRateLimitStore({ algorithm: 'fixed-window' })
      await compare(story, [await serveFastify(options), await serveFastify({ ...options, store })], shown)
    })
    await fc.assert(property, RUNS)
  })

  test('hono-rate-limiter', async () => {
    const property = fc.asyncProperty(storyOf(['/', '/fail']), async (story) => {
      const { limit, windowMs } = story
      const store = honoRateLimiterStore({ algorithm: 'fixed-window' })
      await compare(story, [await serveHono({ limit, windowMs }), await serveHono({ limit, windowMs, store })], shown)
    })
    await fc.assert(property, RUNS)
  })
})

describe("@nestjs/throttler's own storage, which slides, answers as ours does", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 }))
  afterEach(() => void vi.useRealTimers())

  test.each([
    ['as long as the window', (ttl: number) => ttl],
    ['shorter', (ttl: number) => Math.ceil(ttl / 3)],
    ['longer', (ttl: number) => ttl * 2],
    ['none', () => 0],
  ] as const)('with a block: %s', async (_name, blockOf) => {
    const property = fc.asyncProperty(storyOf(['/']), async (story) => {
      const { limit, windowMs: ttl } = story
      const throttlers = [{ limit, ttl, blockDuration: blockOf(ttl) }]
      const ours = { throttlers, storage: throttlerStorage() }
      await compare(story, [await serveNest({ throttlers }), await serveNest(ours)], shownOfNest)
    })
    await fc.assert(property, RUNS)
  })
})

function shown({ status, headers, body }: Answer): unknown {
  const told = Object.entries(headers).filter(([name]) => /ratelimit|retry-after/.test(name))
  return { status, body, told: Object.fromEntries(told) }
}

/** Theirs announces as reset the end of a window that it does not count by. */
function shownOfNest({ status, headers, body }: Answer): unknown {
  const { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, 'retry-after': wait } = headers
  return { status, body, limit, remaining, wait }
}
