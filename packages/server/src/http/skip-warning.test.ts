import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { listeningService } from '../testing/listening-service.ts'

test('each rule that is skipped is one warning, and a count on the start page', async () => {
  const rules = [
    { name: 'per-user', key: ['user'], limit: 10, window: '1m' },
    { name: 'per-tenant', key: ['tenant'], limit: 10, window: '1m' },
    { name: 'all', limit: 10, window: '1m' },
  ]
  const service = await listeningService({ rules })
  const warnings = () => service.log.filter(({ level }) => level === 40).map(({ msg }) => msg)
  const text = (rule: string) => `a request was not counted by rule ${rule}: it lacks a dimension of its key`
  for (let i = 0; i < 3; i++) await service.post('/v1/limit', { descriptor: { tenant: 't' } })
  await sleep(1200)
  expect(warnings()).toEqual([text('per-user')])
  await service.post('/v1/limit', { descriptor: {} })
  const page = await (await fetch(service.url)).text()
  await service.close()
  expect(warnings()).toEqual([text('per-user'), text('per-tenant')])
  const skipped = [...page.matchAll(/<td class="number skipped">(.*?)<\/td>/g)].map(([, count]) => count)
  expect(skipped).toEqual(['4', '1', '0'])
})

// The kind of fault: a rule that was mended is blamed for what it did before.
test('a rule that is changed is warned of when it skips again, and not for what it skipped before', async () => {
  const rule = { name: 'per-user', key: ['user'], limit: 10, window: '1m' }
  const service = await listeningService({ rules: [rule] })
  const warnings = () => service.log.filter(({ level }) => level === 40).length
  await service.post('/v1/limit', { descriptor: {} })
  await sleep(1200)
  service.gate.update([{ ...rule, limit: 20 }])
  await sleep(1200)
  expect(warnings()).toBe(1)
  await service.post('/v1/limit', { descriptor: {} })
  await service.close()
  expect(warnings()).toBe(2)
})
