import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Application, startApplication } from './services/application.ts'
import { type EnvoyService, startEnvoy } from './services/envoy.ts'
import { guideFile } from './services/guide.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { freePort, type Service } from './services/service.ts'
import { startTidegate } from './services/tidegate.ts'
import { waitFor } from './services/wait-for.ts'

/** Envoy writes the machine's own address into X-Forwarded-For where its peer is on loopback. */
function ownAddresses(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  return addresses.flatMap(({ family, address }) => (family === 'IPv4' ? [address] : [])).join()
}

const isMissing = findPart('envoy') === undefined

describe.skipIf(isMissing)(`Envoy asks the service ${isMissing ? howToInstall('envoy') : ''}`, () => {
  let tidegate: Service
  let application: Application
  let envoy: EnvoyService
  /** With the 20 ms of the guide, which a busy machine may not keep. */
  let hasty: EnvoyService

  beforeAll(async () => {
    const grpcPort = await freePort()
    const files = { 'limits.yaml': guideFile('envoy.md', 'limits.yaml') }
    const flags = ['--grpc', String(grpcPort), '--ratelimit-config', 'limits.yaml', '--trust-proxy', ownAddresses()]
    tidegate = await startTidegate(guideFile('envoy.md', 'rules.yaml'), flags, files)
    application = await startApplication()
    envoy = await startEnvoy(grpcPort, application.port, (text) => text.replaceAll('0.020s', '2s'))
    hasty = await startEnvoy(grpcPort, application.port)
  })
  afterAll(async () => {
    await envoy?.stop()
    await hasty?.stop()
    await application?.stop()
    tidegate?.process.kill('SIGCONT')
    await tidegate?.stop('SIGKILL')
  })

  const ask = (port: number, address: string, path = '/', headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-forwarded-for': address, ...headers } })

  test('rate limit service: what passes reaches the application, with what is left in the headers of Envoy', async () => {
    // The first call opens the connection to the service, which may take longer than a decision may.
    await waitFor('a counted request', async () => {
      const { headers } = await ask(envoy.port, '203.0.113.9')
      return headers.has('x-ratelimit-limit')
    })
    const answer = await ask(envoy.port, '203.0.113.1')
    expect([answer.status, await answer.text()]).toEqual([200, 'hello from the application\n'])
    expect(answer.headers.get('x-ratelimit-limit')).toBe('5, 5;w=60')
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('4')
    expect(Number(answer.headers.get('x-ratelimit-reset'))).toBeGreaterThan(55)
  })

  test('rate limit service: the sixth within a minute is 429, and does not reach the application', async () => {
    const before = application.requests()
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) statuses.push((await ask(envoy.port, '203.0.113.2')).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(application.requests() - before).toBe(5)
    expect((await ask(envoy.port, '203.0.113.3')).status).toBe(200)
  })

  test('rate limit service: a request that one limit refuses is not counted by the other', async () => {
    const tenant = { 'x-tenant': 't1' }
    for (let i = 0; i < 8; i++) await ask(envoy.port, '203.0.113.4', '/', tenant)
    // Five were counted, and this is the sixth of a hundred.
    const answer = await ask(envoy.port, '203.0.113.5', '/', { ...tenant })
    const limits = { remaining: answer.headers.get('x-ratelimit-remaining'), status: answer.status }
    expect(limits).toEqual({ remaining: '4', status: 200 })
    const json = { domain: 'shop', descriptors: [{ entries: [{ key: 'tenant', value: 't1' }], hitsAddend: '0' }] }
    const peeked = await fetch(`http://127.0.0.1:${tidegate.port}/json`, { method: 'POST', body: JSON.stringify(json) })
    expect(await peeked.json()).toMatchObject({ statuses: [{ limitRemaining: 94 }] })
  })

  test('ext_authz: 200 with the headers of the decision, then 429 with Retry-After and a problem document', async () => {
    const order = () => ask(envoy.authorizedPort, '203.0.113.1', '/order')
    await waitFor('an answer', async () => (await ask(envoy.authorizedPort, '203.0.113.9')).status === 200)
    const first = await order()
    expect([first.status, await first.text()]).toEqual([200, 'hello from the application\n'])
    expect(first.headers.get('ratelimit')).toBe('"order";r=2;t=60')
    expect(first.headers.get('ratelimit-policy')).toBe('"order";q=3;w=60')
    expect([(await order()).status, (await order()).status]).toEqual([200, 200])
    const before = application.requests()
    const refused = await order()
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ title: 'Too many requests', 'violated-policies': ['order'] })
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
    expect(application.requests()).toBe(before)
    expect((await ask(envoy.authorizedPort, '203.0.113.1', '/%6frder?a=1')).status).toBe(429)
    expect((await ask(envoy.authorizedPort, '203.0.113.6', '/order')).status).toBe(200)
  })

  test('a service that does not answer in time: the one fails open, the other closed, neither waits', async () => {
    const errors = await hasty.counter('ratelimit.error')
    tidegate.process.kill('SIGSTOP')
    const open = await Promise.race([ask(hasty.port, '203.0.113.2'), sleep(10_000)])
    const closed = await Promise.race([ask(hasty.authorizedPort, '203.0.113.2', '/order'), sleep(10_000)])
    tidegate.process.kill('SIGCONT')
    expect([open?.status, closed?.status]).toEqual([200, 503])
    expect(await hasty.counter('ratelimit.error')).toBeGreaterThan(errors)
    expect((await ask(envoy.port, '203.0.113.2')).status).toBe(429)
  })

  test('with the service killed it is the same', async () => {
    await tidegate.stop('SIGKILL')
    expect((await ask(hasty.port, '203.0.113.2')).status).toBe(200)
    expect((await ask(hasty.authorizedPort, '203.0.113.2', '/order')).status).toBe(503)
  })
})
