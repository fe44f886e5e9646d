import { afterEach, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'

let service: ListeningService | undefined
afterEach(() => service?.close())

const request = { domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: 'u1' }] }] }

const limits = `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 1 }
    descriptors:
      - key: path
        value: /a*
        shadow_mode: true
        rate_limit: { requests_per_unit: 3, window: 90s, algorithm: sliding-window }
  - key: free
    rate_limit: { unlimited: true }
`

test('/json: 200 where the request may pass, 429 where not, both with the answer of the protocol as JSON', async () => {
  service = await listeningService({ rules: [], limits })
  const first = await service.post('/json', request)
  expect(first.status).toBe(200)
  expect(await first.json()).toEqual({
    overallCode: 'OK',
    statuses: [{ code: 'OK', currentLimit: { requestsPerUnit: 1, unit: 'HOUR' }, durationUntilReset: '2800s' }],
  })
  const second = await service.post('/json', request)
  expect(second.status).toBe(429)
  expect(await second.json()).toMatchObject({ overallCode: 'OVER_LIMIT', statuses: [{ code: 'OVER_LIMIT' }] })
})

test('/json takes a body of any type, as curl sends it', async () => {
  service = await listeningService({ rules: [], limits })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(`${service.url}/json`, { method: 'POST', headers, body: JSON.stringify(request) })
  expect(answer.status).toBe(200)
})

test.each(['{', '{"domain":1}', '{"domain":"a","other":1}', '', 'null'])('/json: 400 for %s', async (body) => {
  service = await listeningService({ rules: [], limits })
  const answer = await service.post('/json', body)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ code: 'ERR_INVALID_BODY', field: expect.any(String) })
})

test('/healthcheck: OK, and 500 once the service leaves', async () => {
  service = await listeningService({ rules: [], limits })
  const healthy = await fetch(`${service.url}/healthcheck`)
  expect([healthy.status, await healthy.text()]).toEqual([200, 'OK'])
  service.lifecycle.phase = 'leaving'
  expect((await fetch(`${service.url}/healthcheck`)).status).toBe(500)
})

test('/rlconfig: a line for each limit', async () => {
  service = await listeningService({ rules: [], limits })
  const lines = await (await fetch(`${service.url}/rlconfig`)).text()
  expect(lines.split('\n')).toEqual([
    'shop.user: unit=HOUR requests_per_unit=1, shadow_mode: false, quota_mode: false',
    'shop.user.path_/a*: unit=90000ms requests_per_unit=3, shadow_mode: true, quota_mode: false, algorithm: sliding-window',
    'shop.free: unlimited, shadow_mode: false, quota_mode: false',
    '',
  ])
})

test('without a configuration of envoyproxy/ratelimit the rules decide', async () => {
  service = await listeningService({ rules: [{ name: 'per-user', key: ['user'], limit: 1, window: '1m' }] })
  expect((await service.post('/json', request)).status).toBe(200)
  expect((await service.post('/json', request)).status).toBe(429)
  expect(await (await fetch(`${service.url}/rlconfig`)).text()).toBe('')
})
