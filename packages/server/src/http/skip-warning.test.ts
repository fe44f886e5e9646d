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
