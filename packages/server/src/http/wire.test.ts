import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'
import { rawExchange } from '../testing/raw-exchange.ts'

let service: ListeningService
beforeAll(async () => {
  service = await listeningService({ rules: [{ name: 'per-user', key: ['user'], limit: 1000, window: '1m' }] })
})
afterAll(() => service.close())

function post(body: string | Uint8Array, ...headers: string[]): Buffer {
  const bytes = Buffer.from(body)
  const lines = [
    'POST /v1/limit HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
  ]
  return Buffer.concat([Buffer.from(`${[...lines, ...headers].join('\r\n')}\r\n\r\n`), bytes])
}

const CLOSE = 'Connection: close'
const usedBy = (user: string, ...headers: string[]): Buffer => post(`{"descriptor":{"user":"${user}"}}`, ...headers)

describe('bytes that are not UTF-8', () => {
  // Decoded leniently, \xff and \xfe would both be U+FFFD: two users, one counter.
  test.each([0xff, 0xfe, 0xc0, 0xe4])('0x%s is 400, not a replacement character', async (byte) => {
    const body = Buffer.concat([Buffer.from('{"descriptor":{"user":"'), Buffer.from([byte]), Buffer.from('"}}')])
    const answer = await rawExchange(service.port, post(body, CLOSE))
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"code":"ERR_NOT_UTF8","field":"body","expected":"UTF-8"')
  })
})

describe('a connection', () => {
  test('takes requests that are pipelined, and answers them in order', async () => {
    const answer = await rawExchange(service.port, Buffer.concat([usedBy('p'), usedBy('p'), usedBy('p', CLOSE)]))
    expect(
      [
        ...answer.matchAll(/"used":(\d+),"remaining":\d+,"retryAfterMs":0,"resetAfterMs":\d+,"reason":"ok","source"/g),
      ].map(([, used]) => used),
    ).toEqual(['1', '2', '3'])
  })

  test('outlives a faulty request', async () => {
    const answer = await rawExchange(
      service.port,
      Buffer.concat([post('{'), post('{"descriptor":1}'), usedBy('q', CLOSE)]),
    )
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['400', '400', '200'])
  })
})

describe('a body', () => {
  test.each([
    ['of exactly 65,536 bytes is read', 65_536, 'HTTP/1.1 400 ', 'ERR_INVALID_KEY'],
    ['of 65,537 bytes is 413', 65_537, 'HTTP/1.1 413 ', 'ERR_BODY_TOO_LARGE'],
    ['of 10 MB is 413', 10_000_000, 'HTTP/1.1 413 ', 'ERR_BODY_TOO_LARGE'],
  ])('%s', async (_name, size, status, code) => {
    const frame = '{"descriptor":{"user":""}}'
    const body = frame.replace('""', `"${'a'.repeat(size - frame.length)}"`)
    const answer = await rawExchange(service.port, post(body, CLOSE))
    expect(answer.slice(0, status.length)).toBe(status)
    expect(answer).toContain(`"code":"${code}"`)
  })

  test('that is chunked is cut off at the same size', async () => {
    const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`
    const head =
      'POST /v1/limit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    expect(await rawExchange(service.port, `${head}${chunk}${chunk}0\r\n\r\n`)).toContain('"code":"ERR_BODY_TOO_LARGE"')
  })

  test.each([
    ['without a content type', []],
    ['of another type', ['Content-Type: text/plain']],
    ['of a type that is none', ['Content-Type: ;;']],
    ['that is a form', ['Content-Type: application/x-www-form-urlencoded']],
    ['that is compressed', ['Content-Type: application/json', 'Content-Encoding: gzip']],
  ])('%s is 415', async (_name, headers) => {
    const body = '{"descriptor":{}}'
    const lines = ['POST /v1/limit HTTP/1.1', 'Host: x', `Content-Length: ${body.length}`, CLOSE, ...headers]
    const answer = await rawExchange(service.port, `${lines.join('\r\n')}\r\n\r\n${body}`)
    expect(answer).toMatch(/^HTTP\/1\.1 415 /)
    expect(answer).toContain('"code":"ERR_UNSUPPORTED_MEDIA_TYPE"')
  })

  test('may be declared with a charset', async () => {
    const body = '{"descriptor":{}}'
    const response = await fetch(`${service.url}/v1/limit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body,
    })
    expect(response.status).toBe(200)
  })
})

describe('what is no request of this service is a problem document', () => {
  const wrong: [name: string, request: string, status: string, code: string][] = [
    ['no HTTP', 'hello\r\n\r\n', '400', 'ERR_MALFORMED_REQUEST'],
    [
      'headers without end',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`,
      '431',
      'ERR_MALFORMED_REQUEST',
    ],
    ['a percent sign alone', `GET /% HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n\r\n`, '400', 'ERR_MALFORMED_REQUEST'],
    ['another path', `GET /v2/limit HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n\r\n`, '404', 'ERR_NOT_FOUND'],
    [
      'another path with a body',
      `POST /x HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Length: 2\r\n${CLOSE}\r\n\r\nab`,
      '404',
      'ERR_NOT_FOUND',
    ],
    [
      'another method',
      `PROPFIND /v1/limit?x=1 HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n\r\n`,
      '405',
      'ERR_METHOD_NOT_ALLOWED',
    ],
    ['GET on a POST', `GET /v1/limit HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n\r\n`, '405', 'ERR_METHOD_NOT_ALLOWED'],
  ]
  test.each(wrong)('%s', async (_name, request, status, code) => {
    const answer = await rawExchange(service.port, request)
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`)
    expect(answer).toContain(code)
    expect(answer.toLowerCase()).toContain('content-type: application/problem+json')
    if (status === '405') expect(answer.toLowerCase()).toContain('allow: post')
  })
})
