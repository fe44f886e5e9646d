import { type ClientHttp2Session, connect } from 'node:http2'
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateSync, gzipSync } from 'node:zlib'
import { Client, compressionAlgorithms, credentials, Metadata } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { answerOf, openCall, type RawAnswer } from '../testing/raw-call.ts'
import { framed } from './messages.ts'
import type { Method } from './method.ts'
import { RpcServer } from './rpc-server.ts'
import { RpcError, STATUS } from './status.ts'

let server: RpcServer
let session: ClientHttp2Session
let port: number
let refused: RpcError[]
/** Ends calls of `/t.S/Slow`. */
let release: () => void

beforeEach(async () => {
  refused = []
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const methods: [string, Method][] = [
    ['/t.S/Echo', { kind: 'unary', answer: async (bytes) => framed(bytes) }],
    ['/t.S/Slow', { kind: 'unary', answer: (bytes) => released.then(() => framed(bytes)) }],
    ['/t.S/Fail', { kind: 'unary', answer: () => Promise.reject(new RpcError(STATUS.NOT_FOUND, 'none: 100% ä')) }],
    ['/t.S/Break', { kind: 'unary', answer: () => Promise.reject(new Error('a secret')) }],
    [
      '/t.S/Stream',
      {
        kind: 'streaming',
        open: (call) => ({ message: (bytes) => call.send(bytes), end: () => call.end(), close: () => undefined }),
      },
    ],
  ]
  server = new RpcServer({
    methods: new Map(methods),
    connections: { maxAgeMs: 3_600_000, maxAgeGraceMs: 1000 },
    onRefusal: (error) => refused.push(error),
  })
  port = await server.listen('127.0.0.1', 0)
  session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => undefined)
})
afterEach(async () => {
  release()
  session.destroy()
  await server.close(0)
})

function call(path: string, body: Buffer, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const stream = openCall(session, path, headers)
  stream.end(body)
  return answerOf(stream)
}

const hello = Buffer.from('hello')

test('a message comes back, with the status in the trailers', async () => {
  expect(await call('/t.S/Echo', framed(hello))).toMatchObject({ http: 200, status: 0, body: framed(hello) })
  expect(await call('/t.S/Echo', framed(Buffer.alloc(0)))).toMatchObject({ status: 0, body: Buffer.alloc(5) })
})

test.each(['application/grpc', 'application/grpc+proto', 'Application/GRPC; a=b'])('%s is served', async (type) => {
  expect(await call('/t.S/Echo', framed(hello), { 'content-type': type })).toMatchObject({ status: 0 })
})

test.each(['application/json', 'application/grpc+json', 'application/grpc-web', ''])('%j is 415', async (type) => {
  expect(await call('/t.S/Echo', framed(hello), { 'content-type': type })).toMatchObject({
    http: 415,
    status: undefined,
  })
})

test('another method of HTTP is 405, and says which', async () => {
  const answer = await call('/t.S/Echo', framed(hello), { ':method': 'PUT' })
  expect(answer).toMatchObject({ http: 405, headers: { allow: 'POST' } })
})

test('a method that there is not is unimplemented, however much is sent to it', async () => {
  const answer = await call('/t.S/Other', framed(Buffer.alloc(3_000_000)))
  expect(answer).toMatchObject({ http: 200, status: STATUS.UNIMPLEMENTED, message: 'there is no method /t.S/Other' })
  expect(refused).toHaveLength(1)
})

test('an error has its status and its message; one that was not foreseen tells nothing', async () => {
  expect(await call('/t.S/Fail', framed(hello))).toMatchObject({ status: STATUS.NOT_FOUND, message: 'none: 100% ä' })
  const { status, message } = await call('/t.S/Break', framed(hello))
  expect([status, message]).toEqual([STATUS.INTERNAL, 'a fault of the service'])
})

test.each([
  ['no message', Buffer.alloc(0), STATUS.UNIMPLEMENTED],
  ['two messages', Buffer.concat([framed(hello), framed(hello)]), STATUS.UNIMPLEMENTED],
  ['a part of a message', framed(hello).subarray(0, 7), STATUS.INTERNAL],
  ['a part of a prefix', Buffer.from([0, 0]), STATUS.INTERNAL],
  ['more behind the message', Buffer.concat([framed(hello), Buffer.from([0])]), STATUS.INTERNAL],
  ['a flag that there is not', Buffer.from([7, 0, 0, 0, 0]), STATUS.INTERNAL],
  ['compressed without an encoding', Buffer.from([1, 0, 0, 0, 0]), STATUS.INTERNAL],
  ['a message that is too long', framed(Buffer.alloc(1024 * 1024 + 1)), STATUS.RESOURCE_EXHAUSTED],
])('%s', async (_, body, status) => {
  expect(await call('/t.S/Echo', body)).toMatchObject({ http: 200, status })
  expect(await call('/t.S/Echo', framed(hello))).toMatchObject({ status: 0 })
})

test('a message in many pieces', async () => {
  const message = Buffer.alloc(1024 * 1024, 'x')
  const stream = openCall(session, '/t.S/Echo')
  const answer = answerOf(stream)
  for (const byte of framed(message).subarray(0, 20)) {
    stream.write(Buffer.from([byte]))
    await sleep(1)
  }
  stream.end(framed(message).subarray(20))
  expect((await answer).body.equals(framed(message))).toBe(true)
})

function compressed(bytes: Buffer): Buffer {
  const body = framed(bytes)
  body[0] = 1
  return body
}

test('compressed messages: gzip and deflate are read, others are refused with what is', async () => {
  const gzip = { 'grpc-encoding': 'gzip' }
  expect(await call('/t.S/Echo', compressed(gzipSync(hello)), gzip)).toMatchObject({ status: 0, body: framed(hello) })
  const deflate = await call('/t.S/Echo', compressed(deflateSync(hello)), { 'grpc-encoding': 'deflate' })
  expect(deflate).toMatchObject({ status: 0, body: framed(hello) })
  expect(await call('/t.S/Echo', framed(hello), gzip)).toMatchObject({ status: 0, body: framed(hello) })
  const other = await call('/t.S/Echo', compressed(hello), { 'grpc-encoding': 'zstd' })
  expect(other).toMatchObject({
    status: STATUS.UNIMPLEMENTED,
    headers: { 'grpc-accept-encoding': 'identity,gzip,deflate' },
  })
  expect(await call('/t.S/Echo', compressed(hello), gzip)).toMatchObject({ status: STATUS.INTERNAL })
})

test('what is large only when it is decompressed is refused', async () => {
  const bomb = compressed(gzipSync(Buffer.alloc(50_000_000)))
  const answer = await call('/t.S/Echo', bomb, { 'grpc-encoding': 'gzip' })
  expect(answer).toMatchObject({ status: STATUS.RESOURCE_EXHAUSTED })
})

test('a deadline that passes is the answer; one that has passed already, too; one that is none is refused', async () => {
  const late = await call('/t.S/Slow', framed(hello), { 'grpc-timeout': '10m' })
  expect(late).toMatchObject({ status: STATUS.DEADLINE_EXCEEDED })
  expect(await call('/t.S/Echo', framed(hello), { 'grpc-timeout': '0m' })).toMatchObject({
    status: STATUS.DEADLINE_EXCEEDED,
  })
  expect(await call('/t.S/Echo', framed(hello), { 'grpc-timeout': 'soon' })).toMatchObject({
    status: STATUS.INVALID_ARGUMENT,
  })
  expect(await call('/t.S/Echo', framed(hello), { 'grpc-timeout': '10S' })).toMatchObject({ status: 0 })
})

test('a call that is cancelled is answered to nobody, and others are served', async () => {
  const stream = openCall(session, '/t.S/Slow')
  stream.end(framed(hello))
  const answer = answerOf(stream)
  await sleep(20)
  stream.close(8)
  expect(await answer).toMatchObject({ status: undefined })
  release()
  expect(await call('/t.S/Slow', framed(hello))).toMatchObject({ status: 0 })
})

test('a stream answers each message, whatever it is compressed with, and ends when its client does', async () => {
  const stream = openCall(session, '/t.S/Stream', { 'grpc-encoding': 'gzip' })
  const answer = answerOf(stream)
  stream.write(framed(hello))
  stream.write(compressed(gzipSync(Buffer.from('packed'))))
  stream.end(framed(Buffer.from('last')))
  const expected = Buffer.concat([framed(hello), framed(Buffer.from('packed')), framed(Buffer.from('last'))])
  expect(await answer).toMatchObject({ status: 0, body: expected })
})

test('while the answers of a stream are not read, no more of its questions are', async () => {
  const stream = openCall(session, '/t.S/Stream')
  stream.on('error', () => undefined)
  const question = framed(Buffer.alloc(60_000))
  let taken = 0
  const ask = () => {
    while (taken < 500 && stream.write(question)) taken++
    taken++
  }
  stream.on('drain', ask)
  ask()
  await sleep(500)
  // 500 would be 30 MB; what is taken fits into windows and buffers.
  expect(taken).toBeLessThan(60)
  stream.close()
})

test('a stream whose message is too long ends with that, and so does one of an encoding that there is not', async () => {
  expect(await call('/t.S/Stream', framed(Buffer.alloc(70_000)))).toMatchObject({ status: STATUS.RESOURCE_EXHAUSTED })
  const answer = await call('/t.S/Stream', framed(hello), { 'grpc-encoding': 'zstd' })
  expect(answer).toMatchObject({ status: STATUS.UNIMPLEMENTED })
})

test('headers of more than 64 KB end their call or connection alone', async () => {
  const answer = await call('/t.S/Echo', framed(hello), { 'x-large': 'x'.repeat(100_000) })
  expect(answer.status).toBeUndefined()
  session.destroy()
  session = connect(`http://127.0.0.1:${port}`)
  expect(await call('/t.S/Echo', framed(hello))).toMatchObject({ status: 0 })
})

test('a ping is answered while calls wait', async () => {
  const waiting = call('/t.S/Slow', framed(hello))
  await call('/t.S/Echo', framed(hello))
  await new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())))
  release()
  expect(await waiting).toMatchObject({ status: 0 })
})

test('a server that closes says so, finishes what is under way, ends its streams, and takes no connections', async () => {
  const waiting = call('/t.S/Slow', framed(hello))
  const watching = answerOf(openCall(session, '/t.S/Stream'))
  await sleep(50)
  const told = new Promise<number>((resolve) => session.once('goaway', (code) => resolve(code)))
  const closed = server.close(5000)
  expect(await told).toBe(0)
  expect(await watching).toMatchObject({ status: STATUS.UNAVAILABLE, message: 'the service is shutting down' })
  const late = createConnection(port, '127.0.0.1')
  await new Promise((resolve) => late.once('error', resolve))
  release()
  expect(await waiting).toMatchObject({ status: 0 })
  await closed
})

test('what does not finish in time is cut', async () => {
  const waiting = call('/t.S/Slow', framed(hello))
  await sleep(50)
  await server.close(50)
  expect((await waiting).status).toBeUndefined()
})

test('@grpc/grpc-js: compressed both ways it asks, with metadata, and told of errors', async () => {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
  })
  const metadata = new Metadata()
  metadata.set('x-request-id', 'r1')
  metadata.set('x-bin', Buffer.from([0, 255]))
  const bytes = (given: Buffer) => given
  const ask = (path: string) =>
    new Promise<unknown>((resolve) => {
      client.makeUnaryRequest(path, bytes, bytes, Buffer.alloc(5000, 'a'), metadata, (error, answer) =>
        resolve(error === null ? answer?.length : [error.code, error.details]),
      )
    })
  expect(await ask('/t.S/Echo')).toBe(5000)
  expect(await ask('/t.S/Fail')).toEqual([STATUS.NOT_FOUND, 'none: 100% ä'])
  expect(await ask('/t.S/Other')).toEqual([STATUS.UNIMPLEMENTED, 'there is no method /t.S/Other'])
  client.close()
})
