import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { createGate, createLimiter, type Decision, type Gate, memoryStore } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import type { LimitedRule } from './oracle/counter.ts'
import { moved, type Sequence, type SequenceStep, sequences } from './sequence.ts'

/** Long enough that a busy machine answers in time, and nothing is decided in the place of Redis. */
const PATIENT = { deadlineMs: 30_000 }

describeRedis('refusals without Redis', (redis) => {
  test('answer as Redis would, whatever is asked and done in between', { timeout: 300_000 }, async () => {
    const seen = { decisions: 0, here: 0 }
    const same = fc.asyncProperty(sequences(160), async (sequence) => {
      await redis.client.flushall()
      await agree({ ...sequence, rules: sequence.rules.map(withoutPenalty) }, seen)
    })
    while (seen.decisions < 2_000) await fc.assert(same, { numRuns: 20 })
    expect(seen.here).toBeGreaterThan(50)
  })

  /** One sequence through memory and through Redis with refusals answered here. */
  async function agree(sequence: Sequence, seen: { decisions: number; here: number }): Promise<void> {
    let now = sequence.start
    const clock = () => now
    const { rules } = sequence
    const plain = createGate({ rules, store: memoryStore({ clock }) })
    const cached = createGate({ rules, store: redisStore(redis.client, { ...PATIENT, clock }) })
    for (const [i, step] of sequence.steps.entries()) {
      // A clock that is set back moves what the store has seen of the time, which what is answered here does not.
      now = Math.max(now, moved(now, step.move, rules))
      const [expected, actual] = [await take(plain, step), await take(cached, step)]
      if (expected === undefined || actual === undefined) continue
      seen.decisions++
      const isHere = actual.source === 'denied-cache'
      if (isHere) seen.here++
      const refusals = isHere ? new Set(actual.rules.flatMap((one) => (one.allowed ? [] : [one.rule]))) : undefined
      const isOne = step.cost === 1 && !rules.some(({ cost }) => cost !== undefined)
      const [ours, theirs] = [told(expected, refusals, isOne), told(actual, refusals, isOne)]
      if (isDeepStrictEqual(ours, theirs)) continue
      throw new Error(
        `step ${i}: ${JSON.stringify(step)}\nmemory: ${JSON.stringify(ours)}\nhere: ${JSON.stringify(theirs)}`,
      )
    }
    await cached.close()
  }

  test('wait as long as they say: then Redis admits, and not a millisecond before', async () => {
    let now = 1_700_000_000_000
    const store = redisStore(redis.client, { ...PATIENT, clock: () => now })
    const limiter = createLimiter({ name: 'exact', limit: 3, window: 700, store })
    while ((await limiter.limit('k')).allowed) now += 1
    now += 50
    const { source, retryAfterMs } = await limiter.limit('k')
    expect(source).toBe('denied-cache')
    const bare = createLimiter({
      ...{ name: 'exact', limit: 3, window: 700 },
      store: redisStore(redis.client, { guarded: false, clock: () => now }),
    })
    now += (retryAfterMs as number) - 1
    expect((await bare.peek('k')).allowed).toBe(false)
    now += 1
    expect((await bare.peek('k')).allowed).toBe(true)
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, source: 'store' })
  })

  test('by the time of Redis no refusal stands longer than it must', async () => {
    const store = redisStore(redis.client, PATIENT)
    const limiter = createLimiter({ name: 'real', limit: 1, window: 150, store })
    let admitted = 0
    let last = 0
    let here = 0
    while (admitted < 8) {
      const { allowed, source, at, retryAfterMs } = await limiter.limit('k')
      if (source === 'denied-cache') here++
      if (allowed) {
        if (admitted > 0) expect(at - last).toBeGreaterThanOrEqual(150)
        ;[admitted, last] = [admitted + 1, at]
      } else await new Promise((resolve) => setTimeout(resolve, Math.min(10, retryAfterMs as number)))
    }
    expect(here).toBeGreaterThan(0)
  })

  test('a flood of a coarse rule reaches Redis but for as many as its limit, and a part of the wait of one', async () => {
    const store = redisStore(redis.client, PATIENT)
    const limiter = createLimiter({ name: 'flood', limit: 100, window: '1h', coarse: true, deniedCache: false, store })
    const decisions = await Promise.all(Array.from({ length: 10_000 }, () => limiter.limit('k')))
    const asked = decisions.filter(({ source }) => source === 'store')
    expect(asked.length).toBeGreaterThanOrEqual(100)
    expect(asked.length).toBeLessThanOrEqual(200)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100)
    expect(decisions.filter(({ source }) => source === 'coarse')).toHaveLength(10_000 - asked.length)
  })

  test('a store that is not guarded has it where it is asked for, and none where it is not wanted', async () => {
    const sourceOf = async (options: object) => {
      const store = redisStore(redis.client, { guarded: false, ...options })
      const limiter = createLimiter({ name: 'bare', limit: 0, window: '1h', store })
      await limiter.limit('k')
      return (await limiter.limit('k')).source
    }
    // A limit of 0 is no matter of waiting: nothing is remembered of a cost above the limit.
    expect(await sourceOf({ deniedCache: true })).toBe('store')
    const full = async (options: object) => {
      const limiter = createLimiter({ name: 'full', limit: 1, window: '1h', store: redisStore(redis.client, options) })
      while ((await limiter.limit('k')).allowed);
      return (await limiter.limit('k')).source
    }
    expect(await full({ guarded: false })).toBe('store')
    expect(await full({ guarded: false, deniedCache: true })).toBe('denied-cache')
    expect(await full(PATIENT)).toBe('denied-cache')
    expect(await full({ ...PATIENT, deniedCache: false })).toBe('store')
  })
})

/** The end of a block is seen a second later at most, and with it the beginning of the next. */
function withoutPenalty({ penalty: _, ...rule }: LimitedRule & { penalty?: unknown }): LimitedRule {
  return rule as LimitedRule
}

/** Does what a step says; undefined for what is no decision of the store. */
async function take(gate: Gate, step: SequenceStep): Promise<Decision | undefined> {
  const { op, cost, id, expiresIn } = step
  const descriptor = step.descriptor as Record<string, string>
  if (op === 'limit' || op === 'peek') {
    const decision = await gate[op](descriptor, { cost, id })
    return decision.rule === null && decision.rules.length === 0 ? undefined : decision
  }
  if (op === 'reserve') return gate.reserve(descriptor, { cost: Math.max(1, cost), id, expiresIn }).catch(nothing)
  if (op === 'settle') return gate.settle(descriptor, id, { cost }).then(nothing, nothing)
  if (op === 'reset') return gate.reset(descriptor).then(nothing)
  if (op === 'renew' || op === 'release') return gate[op](descriptor, id).then(nothing, nothing)
  if (op === 'refund') return gate.refund(descriptor, { cost }).then(nothing, nothing)
  return undefined
}

function nothing(): undefined {
  return undefined
}

/**
 * All of a decision but where it was made. Of one that was made here: what the rules say that refused it; the others are told
 * as of the answer of Redis, and so is what was used, but where any of it that ends would admit a cost of 1.
 */
function told(
  { source: _, ...decision }: Decision,
  refusals: ReadonlySet<string> | undefined,
  isOne: boolean,
): unknown {
  if (refusals === undefined) return decision
  const figures = decision.rules.filter(({ rule }) => refusals.has(rule))
  const rules = figures.map(({ used, remaining, ...rest }) => (isOne ? { ...rest, used, remaining } : rest))
  return { allowed: decision.allowed, id: decision.id, version: decision.version, rules }
}
