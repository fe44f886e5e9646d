import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'
import { rawExchange } from '../testing/raw-exchange.ts'

const TIMEOUT_MS = 400

let service: ListeningService
beforeAll(async () => {
  service = await listeningService({ rules: [], requestTimeoutMs: TIMEOUT_MS })
})
afterAll(() => service.close())

/** The status, the media type and the document of the only answer on a connection. */
async function problemTo(request: string): Promise<Record<string, unknown>> {
  const answer = await rawExchange(service.port, request)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
  expect(head.toLowerCase()).toContain('content-type: application/problem+json')
  const problem = JSON.parse(body) as Record<string, unknown>
  expect(head.slice(0, 12)).toBe(`HTTP/1.1 ${String(problem['status'])}`)
  return problem
}

describe('what Node alone would answer without a word is a problem document', () => {
  const heads: [name: string, head: string, status: number, code: string, field: string][] = [
    ['no host', 'GET / HTTP/1.1', 400, 'ERR_MALFORMED_REQUEST', 'host'],
    ['no host, on no path', 'GET /none HTTP/1.1', 400, 'ERR_MALFORMED_REQUEST', 'host'],
    ['no host, for a gateway', 'GET /auth HTTP/1.1', 400, 'ERR_MALFORMED_REQUEST', 'host'],
    ['an expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: weird', 417, 'ERR_EXPECTATION_FAILED', 'expect'],
    [
      'an expectation of a body',
      'POST /v1/limit HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Type: application/json\r\nContent-Length: 2',
      417,
      'ERR_EXPECTATION_FAILED',
      'expect',
    ],
    ['CONNECT', 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443', 405, 'ERR_METHOD_NOT_ALLOWED', 'method'],
  ]
  test.each(heads)('%s', async (_name, head, status, code, field) => {
    const problem = await problemTo(`${head}\r\nConnection: close\r\n\r\n`)
    expect(problem).toMatchObject({ type: 'about:blank', status, code, field, expected: expect.any(String) })
  })

  test('HTTP/1.0 needs no host', async () => {
    expect(await rawExchange(service.port, 'GET /healthz HTTP/1.0\r\n\r\n')).toContain('{"status":"ok"}')
  })

  test('100-continue is met', async () => {
    const head = 'POST /v1/limit HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json'
    const answer = await rawExchange(
      service.port,
      `${head}\r\nConnection: close\r\nContent-Length: 17\r\n\r\n{"descriptor":{}}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
  })
})

describe('a request that is not there whole in time is 408, and its connection closed', () => {
  const head = 'POST /v1/limit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const slow: [name: string, bytes: string][] = [
    ['nothing', ''],
    ['half a line', 'POST /v1'],
    ['half a head', head],
    ['no body', `${head}Content-Length: 17\r\n\r\n`],
    ['half a body', `${head}Content-Length: 17\r\n\r\n{"desc`],
    ['half a body in chunks', `${head}Transfer-Encoding: chunked\r\n\r\n6\r\n{"desc\r\n`],
  ]
  test.each(slow)('%s', async (_name, bytes) => {
    const started = performance.now()
    const problem = await problemTo(bytes)
    expect(performance.now() - started).toBeGreaterThanOrEqual(TIMEOUT_MS)
    expect(problem).toMatchObject({ status: 408, code: 'ERR_MALFORMED_REQUEST' })
    expect(problem['detail']).toBe('expected the whole request within 0.4 seconds')
  })

  test('a connection that is idle between requests is kept', async () => {
    const ask = 'GET /healthz HTTP/1.1\r\nHost: x\r\n'
    const socket = connect(service.port, '127.0.0.1', () => socket.write(`${ask}\r\n`))
    let received = ''
    socket.on('data', (chunk) => (received += String(chunk)))
    await sleep(TIMEOUT_MS * 2)
    socket.write(`${ask}Connection: close\r\n\r\n`)
    await new Promise((resolve) => socket.once('close', resolve))
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  })
})

test.each(['hello\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 'GET'])(
  'a client that does not close after %j is closed',
  async (bytes) => {
    const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    socket.write(bytes)
    await new Promise((resolve) => socket.once('end', resolve))
    while ((await service.connections()) > 0) await sleep(20)
    socket.destroy()
  },
)
