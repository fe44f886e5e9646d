import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Application, startApplication } from './services/application.ts'
import { caddy, type Gateway, haproxy, nginxLua, startGateway } from './services/gateways.ts'
import { guideFile } from './services/guide.ts'
import { findPart, howToInstall, type Part } from './services/parts.ts'
import type { Service } from './services/service.ts'
import { startTidegate } from './services/tidegate.ts'

interface Expected {
  readonly gateway: Gateway
  readonly needs: readonly Part[]
  /** Whether what passes has the headers of the decision. */
  readonly showsHeaders: boolean
  /** The statuses of four requests of one address while the service is gone. */
  readonly without: readonly number[]
  /** The same where the guide's other choice is taken, by what is changed in its files. */
  readonly otherwise?: { readonly edit: (text: string) => string; readonly without: readonly number[] }
}

const failingClosed = (text: string) =>
  text.replace('# http-request return status 503', 'http-request return status 503')
const cases: Expected[] = [
  {
    gateway: haproxy,
    needs: ['haproxy'],
    showsHeaders: true,
    without: [200, 200, 200, 200],
    otherwise: { edit: failingClosed, without: [503, 503, 503, 503] },
  },
  { gateway: caddy, needs: ['caddy'], showsHeaders: false, without: [503, 503, 503, 503] },
  // Two by its own count, then no more.
  { gateway: nginxLua, needs: ['nginx', 'ngx_http_lua_module.so'], showsHeaders: true, without: [200, 200, 429, 429] },
]

/** A decision on a busy machine may take longer than one may cost in the field; that there is a bound is tested by stopping the service. */
const patient = (text: string) =>
  text
    .replaceAll(/(dial_timeout|response_header_timeout) 20ms/g, '$1 2s')
    .replace('timeout = 20,', 'timeout = 2000,')
    .replace('local TIMEOUT = 0.020', 'local TIMEOUT = 2')

describe.each(cases)('the guide $gateway.guide', ({ gateway, needs, showsHeaders, without, otherwise }) => {
  const missing = needs.filter((part) => findPart(part) === undefined)

  describe.skipIf(missing.length > 0)(`for real ${missing.map(howToInstall).join(', ')}`, () => {
    let tidegate: Service
    let application: Application
    const started: Service[] = []

    beforeAll(async () => {
      tidegate = await startTidegate(guideFile(gateway.guide, 'rules.yaml'), ['--trust-proxy', '127.0.0.1'])
      application = await startApplication()
    })
    afterAll(async () => {
      for (const service of started) await service.stop()
      await application?.stop()
      tidegate?.process.kill('SIGCONT')
      await tidegate?.stop('SIGKILL')
    })

    async function starting(edit: (text: string) => string = (text) => text): Promise<Service> {
      const ports = { tidegate: tidegate.port, application: application.port }
      const service = await startGateway(gateway, ports, (text) => asAnotherHop(edit(text)))
      started.push(service)
      return service
    }

    const ask = (port: number, address: string) =>
      fetch(`http://127.0.0.1:${port}/order`, { headers: { 'x-forwarded-for': address } })

    test('five pass in a minute, others are refused with 429, its headers and a problem document', async () => {
      const { port } = await starting(patient)
      const before = application.requests()
      const answers: Response[] = []
      for (let i = 0; i < 7; i++) answers.push(await ask(port, '203.0.113.1'))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429])
      expect(application.requests() - before).toBe(5)
      const [first, refused] = [answers[0] as Response, answers[5] as Response]
      expect(await first.text()).toBe('hello from the application\n')
      if (showsHeaders) {
        expect(first.headers.get('ratelimit')).toBe('"per-ip";r=4;t=60')
        expect(first.headers.get('ratelimit-policy')).toBe('"per-ip";q=5;w=60')
      }
      expect(refused.headers.get('ratelimit')).toMatch(/^"per-ip";r=0;t=\d+$/)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30)
      expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      expect(await refused.json()).toMatchObject({ status: 429, 'violated-policies': ['per-ip'] })
      expect((await ask(port, '203.0.113.2')).status).toBe(200)
    })

    test('a service that hangs, and one that is gone, do not hang the gateway', async () => {
      const { port } = await starting()
      const others = otherwise === undefined ? undefined : await starting(otherwise.edit)
      const statuses = async (one: number, address: string) => {
        const answers: number[] = []
        for (let i = 0; i < 4; i++) answers.push((await ask(one, address)).status)
        return answers
      }
      tidegate.process.kill('SIGSTOP')
      expect(await statuses(port, '203.0.113.3')).toEqual(without)
      tidegate.process.kill('SIGCONT')
      await tidegate.stop('SIGKILL')
      expect(await statuses(port, '203.0.113.4')).toEqual(without)
      if (others !== undefined) expect(await statuses(others.port, '203.0.113.4')).toEqual(otherwise?.without)
    })
  })
})

/** HAProxy believes nobody's X-Forwarded-For until it is told to, as its guide says. */
function asAnotherHop(text: string): string {
  return text.replace('  http-request lua.tidegate', '  http-request set-src hdr_ip(x-forwarded-for,-1)\n$&')
}
