import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callGrpc, requestOf } from './services/grpc.ts'
import { freePort, type Service } from './services/service.ts'
import { startTidegate } from './services/tidegate.ts'

const RULES = 'rules:\n  - { name: all, limit: 1000000, window: 1h }\n'
const [OK, INVALID_ARGUMENT] = [0, 3]

/** Bytes that look like nothing, and are the same each time (xorshift32). */
function noise(length: number, seed: number): Buffer {
  let state = seed
  return Buffer.from(
    Array.from({ length }, () => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return state & 255
    }),
  )
}

describe('whatever is sent, others are served', () => {
  let tidegate: Service
  let grpcPort: number
  const open: Socket[] = []

  beforeAll(async () => {
    grpcPort = await freePort()
    tidegate = await startTidegate(RULES, ['--grpc', String(grpcPort), '--log-level', 'warn'])
  })
  afterAll(async () => {
    for (const socket of open) socket.destroy()
    await tidegate?.stop('SIGKILL')
  })

  async function serves(): Promise<void> {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"descriptor":{"a":"b"}}' }
    expect((await fetch(`http://127.0.0.1:${tidegate.port}/v1/limit`, init)).status).toBe(200)
    expect((await callGrpc(grpcPort, requestOf(1))).status).toBe(OK)
  }

  /** Kilobytes that the process has in memory. */
  const resident = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${tidegate.process.pid}/status`, 'utf8'))?.[1])

  const connecting = (port: number) =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket))
      socket.once('error', reject)
      open.push(socket)
    })

  test.each(['HTTP', 'gRPC'])('random bytes to %s', async (side) => {
    for (let seed = 1; seed <= 100; seed++) {
      const socket = await connecting(side === 'HTTP' ? tidegate.port : grpcPort)
      socket.on('error', () => undefined)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.resume()
      socket.end(noise(1 + seed * 37, seed * 2_654_435_761))
      await closed
    }
    await serves()
  })

  test('random bytes after a good beginning of HTTP/2', async () => {
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1')
    for (let seed = 1; seed <= 50; seed++) {
      const socket = await connecting(grpcPort)
      socket.on('error', () => undefined)
      // Half of a frame is waited for, until the keep-alive of the server has no answer.
      await new Promise<void>((resolve) => socket.end(Buffer.concat([preface, noise(500, seed * 40_503)]), resolve))
    }
    await serves()
  })

  test('messages of random bytes are errors of their calls', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const { status } = await callGrpc(grpcPort, noise(seed * 11, seed * 97))
      expect(status).not.toBe(undefined)
    }
    await serves()
  })

  test('10,000 descriptors are refused with the number that may be sent', async () => {
    const { status, message } = await callGrpc(grpcPort, requestOf(10_000))
    expect([status, message]).toEqual([
      INVALID_ARGUMENT,
      'ERR_INVALID_BODY: descriptors: expected 1 to 100 descriptors; received 10000',
    ])
    expect((await callGrpc(grpcPort, requestOf(100))).status).toBe(OK)
    await serves()
  })

  test('headers of a megabyte are refused', async () => {
    const { status } = await callGrpc(grpcPort, requestOf(1), { 'x-large': 'x'.repeat(1_000_000) })
    expect(status).not.toBe(OK)
    await serves()
  })

  test('clients that send a byte and wait, and 1,000 connections that send nothing', async () => {
    const before = resident()
    const ports = [tidegate.port, grpcPort]
    const idle = await Promise.all(Array.from({ length: 1000 }, (_, i) => connecting(ports[i % 2] as number)))
    for (const socket of idle.slice(0, 200)) {
      socket.on('error', () => undefined)
      socket.write('P')
    }
    for (let i = 0; i < 20; i++) await serves()
    // Some ten kilobytes for each.
    expect(resident() - before).toBeLessThan(100_000)
  })

  test('after all of that no error was unforeseen', async () => {
    const text = await (await fetch(`http://127.0.0.1:${tidegate.port}/metrics`)).text()
    expect(text).not.toContain('code="ERR_INTERNAL"')
    expect(text).toContain('tidegate_errors_total{code="ERR_INVALID_BODY"}')
  })
})
