import { createSocket } from 'node:dgram'
import { create } from '@bufbuild/protobuf'
import { pino } from 'pino'
import { createLimiter, TidegateError } from 'tidegate'
import { guard } from 'tidegate/store'
import { afterEach, expect, test } from 'vitest'
import { denialLog } from '../events/denial-log.ts'
import type { Denial } from '../events/service-event.ts'
import { RateLimitRequestSchema } from '../grpc/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { failingStore } from '../testing/failing-store.ts'
import { limitingByText } from '../testing/limiting-by-text.ts'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'
import { until } from '../testing/program.ts'
import { countedCalls } from './call-counters.ts'
import { measureHealth } from './health-gauges.ts'
import { limitObserver } from './limit-counters.ts'
import { Metrics } from './metrics.ts'
import { StatsdCounters } from './statsd-counters.ts'
import { watchStore } from './store-watcher.ts'

let service: ListeningService | undefined
afterEach(() => service?.close())

async function metrics(): Promise<string> {
  const answer = await fetch(`${service?.url}/metrics`)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return answer.text()
}

test('decisions by rule, outcome and source; durations and errors', async () => {
  service = await listeningService({ rules: [{ name: 'per-user', key: ['user'], limit: 1, window: '1m' }] })
  for (const user of ['a', 'a', 'a']) await service.post('/v1/limit', { descriptor: { user } })
  await service.post('/v1/limit', { descriptor: {} })
  await service.post('/v1/limit', { descriptor: 1 })
  await fetch(`${service.url}/${'x'.repeat(50)}`)
  const text = await metrics()
  expect(text).toContain('tidegate_decisions_total{rule="per-user",outcome="allowed",source="store"} 1\n')
  expect(text).toContain('tidegate_decisions_total{rule="per-user",outcome="refused",source="store"} 2\n')
  expect(text).toContain('tidegate_decisions_total{rule="none",outcome="allowed",source="store"} 1\n')
  expect(text).toContain('tidegate_request_duration_seconds_count{endpoint="/v1/limit"} 5\n')
  expect(text).toContain('tidegate_request_duration_seconds_count{endpoint="unknown"} 1\n')
  expect(text).toContain('tidegate_errors_total{code="ERR_INVALID_DESCRIPTOR"} 1\n')
  expect(text).toMatch(/^process_cpu_seconds_total /m)
  expect(text).not.toContain('xxxx')
})

test('rules in shadow besides the rule that decided; reservations, and what they have come to', async () => {
  service = await listeningService({
    rules: [
      { name: 'enforced', key: ['user'], limit: 3, window: '1m' },
      { name: 'tried', key: ['user'], limit: 1, window: '1m', shadow: true },
    ],
  })
  const descriptor = { user: 'a' }
  for (const _ of [1, 2]) await service.post('/v1/limit', { descriptor })
  await service.post('/v1/reserve', { descriptor, cost: 1, id: 'r1' })
  await service.post('/v1/reserve', { descriptor, cost: 1, id: 'r2' })
  await service.post('/v1/settle', { descriptor, id: 'r1', cost: 1 })
  for (const _ of [1, 2]) await service.post('/v1/cancel', { descriptor, id: 'r2' })
  const text = await metrics()
  expect(text).toContain('tidegate_decisions_total{rule="enforced",outcome="allowed",source="store"} 3\n')
  expect(text).toContain('tidegate_decisions_total{rule="enforced",outcome="refused",source="store"} 1\n')
  expect(text).toContain('tidegate_decisions_total{rule="tried",outcome="shadowed",source="store"} 3\n')
  expect(text).not.toContain('rule="tried",outcome="allowed"')
  expect(text).toContain('tidegate_settlements_total{operation="settle",settled="true"} 1\n')
  expect(text).toContain('tidegate_settlements_total{operation="cancel",settled="false"} 2\n')
})

test('what is decided without the store: by its rule as local, by its cause, and the errors of the store', async () => {
  const watched = new Metrics()
  const { observed, observer } = watchStore(watched)
  const failing = observed(failingStore(new TidegateError('ERR_STORE_UNAVAILABLE', 'gone')))
  const store = guard(failing, { observer, breaker: { failures: 2 } })
  service = await listeningService({ rules: [{ name: 'site', limit: 2, window: '1h' }], limits, store })
  const ask = { domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: 'a' }] }] }
  for (const _ of [1, 2, 3]) await service.post('/v1/limit', { descriptor: {} })
  expect((await service.post('/json', ask)).status).toBe(200)
  const text = await metrics()
  expect(text).toContain('tidegate_decisions_total{rule="site",outcome="allowed",source="local"} 2\n')
  expect(text).toContain('tidegate_decisions_total{rule="site",outcome="refused",source="local"} 1\n')
  expect(text).toContain('tidegate_decisions_total{rule="shop.user",outcome="allowed",source="local"} 1\n')
  const seen = await watched.registry.metrics()
  expect(seen).toContain('tidegate_fallbacks_total{cause="error"} 2\n')
  expect(seen).toContain('tidegate_fallbacks_total{cause="breaker"} 2\n')
  expect(seen).toContain('tidegate_fallbacks_total{cause="deadline"} 0\n')
  expect(seen).toContain('tidegate_breaker_open 1\n')
  expect(seen).toContain('tidegate_store_duration_seconds_count{operation="decide"} 2\n')
  await store.close()
})

const limits = `
domain: shop
descriptors:
  - { key: user, value_to_metric: true, rate_limit: { unit: hour, requests_per_unit: 5 } }
  - { key: shadow, shadow_mode: true, rate_limit: { unit: hour, requests_per_unit: 1 } }
`

test('what a client sends is in no label, and in statsd where the configuration asks for it', async () => {
  const receiver = createSocket('udp4')
  const received: string[] = []
  receiver.on('message', (packet) => received.push(...packet.toString().split('\n').filter(Boolean)))
  await new Promise<void>((resolve) => receiver.bind(0, '127.0.0.1', resolve))
  const statsd = new StatsdCounters({ host: '127.0.0.1', port: receiver.address().port })
  service = await listeningService({ rules: [], limits, statsd })
  const ask = (key: string, value: string, hitsAddend: number) =>
    service?.post('/json', { domain: 'shop', descriptors: [{ entries: [{ key, value }] }], hitsAddend })
  await ask('user', 'a:b|c', 2)
  await ask('user', 'a:b|c', 3)
  await ask('user', 'a:b|c', 1)
  await ask('shadow', 'x', 1)
  await ask('shadow', 'x', 1)
  await ask('other', 'x', 1)
  const text = await metrics()
  expect(text).toContain('tidegate_decisions_total{rule="shop.user",outcome="allowed",source="store"} 2\n')
  expect(text).toContain('tidegate_decisions_total{rule="shop.user",outcome="refused",source="store"} 1\n')
  expect(text).toContain('tidegate_decisions_total{rule="shop.shadow",outcome="shadowed",source="store"} 1\n')
  expect(text).not.toContain('a:b')
  await statsd.close()
  while (received.length < 7) await new Promise((resolve) => receiver.once('message', resolve))
  receiver.close()
  expect(received.sort()).toEqual(
    [
      'shop.user_a_b_c.total_hits:6|c',
      'shop.user_a_b_c.within_limit:5|c',
      'shop.user_a_b_c.near_limit:3|c',
      'shop.user_a_b_c.over_limit:1|c',
      'shop.shadow.total_hits:2|c',
      'shop.shadow.within_limit:1|c',
      'shop.shadow.near_limit:1|c',
      'shop.shadow.over_limit:1|c',
      'shop.shadow.shadow_mode:1|c',
    ]
      .map((line) => `ratelimit.service.rate_limit.${line}`)
      .sort(),
  )
})

test('calls, their errors, decisions without the store and the global shadow are counters of statsd', async () => {
  const receiver = createSocket('udp4')
  const received: string[] = []
  receiver.on('message', (packet) => received.push(...packet.toString().split('\n').filter(Boolean)))
  await new Promise<void>((resolve) => receiver.bind(0, '127.0.0.1', resolve))
  const statsd = new StatsdCounters({ host: '127.0.0.1', port: receiver.address().port })
  const failing = failingStore(new TidegateError('ERR_STORE_UNAVAILABLE', 'gone'))
  const store = guard(failing)
  const observe = limitObserver(new Metrics(), statsd, { isShadow: true })
  const { rateLimiting } = limitingByText(limits, store, { shadowMode: true }, observe)
  const answer = countedCalls(rateLimiting, statsd)
  const ask = (hits: number) => {
    const descriptors = [{ entries: [{ key: 'user', value: 'a' }] }]
    return answer(create(RateLimitRequestSchema, { domain: 'shop', descriptors, hitsAddend: hits }))
  }
  await ask(5)
  await ask(1)
  await expect(answer(create(RateLimitRequestSchema, { domain: '' }))).rejects.toThrow()
  await statsd.close()
  await store.close()
  while (received.length < 8) await new Promise((resolve) => receiver.once('message', resolve))
  receiver.close()
  expect(received).toEqual(
    expect.arrayContaining([
      'ratelimit_server.ShouldRateLimit.total_requests:3|c',
      'ratelimit.service.call.should_rate_limit.redis_error:2|c',
      'ratelimit.service.call.should_rate_limit.service_error:1|c',
      'ratelimit.service.global_shadow_mode:1|c',
    ]),
  )
})

test('what Redis says of its memory, and how much travels together', async () => {
  const watched = new Metrics()
  const health = { memoryBytes: 1024, maxMemoryBytes: 0, evictedKeys: 3, skewMs: 1500 }
  const inspect = async () => ({ ...health, evictionPolicy: 'noeviction', memoryShare: undefined, isReplica: false })
  const store = guard({ ...failingStore(new TidegateError('ERR_STORE_UNAVAILABLE', 'gone')), inspect })
  measureHealth(store, watched)
  const { observer } = watchStore(watched)
  observer.batch?.({ keys: 3 })
  expect(await watched.registry.metrics()).not.toMatch(/^tidegate_redis_memory_bytes /m)
  await createLimiter({ name: 'l', limit: 1, window: '1h', store }).limit('k')
  await until(() => store.guardState().health !== undefined)
  const text = await watched.registry.metrics()
  expect(text).toContain('tidegate_redis_memory_bytes 1024\n')
  expect(text).toContain('tidegate_redis_max_memory_bytes 0\n')
  expect(text).toContain('tidegate_redis_evicted_keys 3\n')
  expect(text).toContain('tidegate_redis_clock_skew_seconds 1.5\n')
  expect(text).toContain('tidegate_store_batch_keys_bucket{le="4"} 1\n')
  await store.close()
})

test('refused requests are lines of the log, so many in a second', () => {
  const lines: Record<string, unknown>[] = []
  const log = denialLog(pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }), 2)
  const denial: Denial = {
    rule: 'r',
    reason: 'over_limit',
    limit: 1,
    used: 1,
    retryAfterMs: 5,
    source: 'store',
    key: { user: 'u' },
  }
  for (let i = 0; i < 5; i++) log(() => denial)
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatchObject({ event: 'denial', ...denial, suppressed: 0, msg: 'a request was refused' })
})
