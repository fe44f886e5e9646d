import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort, startService, temporaryFolder } from './services/service.ts'
import { startTidegate } from './services/tidegate.ts'

const example = join(import.meta.dirname, '../../../examples/spring-cloud-gateway')
const jar = join(example, 'target/spring-cloud-gateway-example-0.1.0.jar')
const skipped = existsSync(jar) ? '' : 'not built: mvn -f examples/spring-cloud-gateway/pom.xml package'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe.skipIf(skipped !== '')(`Spring Cloud Gateway ${skipped}`, () => {
  test('200, 429 with headers, and the failure mode with the service killed', { timeout: 240_000 }, async () => {
    const upstream = createServer((_request, response) => response.end('upstream'))
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => upstream.close())
    const tidegate = await startTidegate(readFileSync(join(example, 'rules.yaml'), 'utf8'))
    cleanups.push(() => tidegate.stop('SIGKILL'))
    const [port, folder] = [await freePort(), await temporaryFolder('spring')]
    const options = [`--server.port=${port}`, `--tidegate.url=http://127.0.0.1:${tidegate.port}`]
    const env = { UPSTREAM: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` }
    const url = `http://127.0.0.1:${port}/order`
    const ask = () => fetch(url, { headers: { 'X-Tenant': 't1', connection: 'close' } })
    const args = ['-jar', jar, ...options, '--tidegate.timeout=5s']
    const ready = async () => (await fetch(url)).status === 200
    const gateway = await startService('java', args, { port, folder, env }, ready, 200_000)
    cleanups.push(() => gateway.stop('SIGKILL'))
    const answers = [await ask(), await ask(), await ask(), await ask()]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(answers[0]?.headers.get('ratelimit')).toBe('"per-tenant";r=2;t=60')
    expect(answers[3]?.headers.get('retry-after')).toMatch(/^\d+$/)
    await tidegate.stop('SIGKILL')
    expect((await ask()).status).toBe(200)
  })
})
