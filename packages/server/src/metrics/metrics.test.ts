import { createSocket } from 'node:dgram'
import { afterEach, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'
import { StatsdCounters } from './statsd-counters.ts'

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
