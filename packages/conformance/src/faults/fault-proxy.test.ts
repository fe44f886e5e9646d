import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { waitFor } from '../services/wait-for.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A server that answers what it is sent, a proxy before it, and what a client has received through it. */
async function echo(random?: () => number) {
  const atServer: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    atServer.push(socket)
    socket.on('error', () => undefined).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await startFaultProxy((server.address() as AddressInfo).port, random)
  cleanups.push(
    () => server.close(),
    () => proxy.close(),
  )
  return { proxy, atServer }
}

async function clientOf({ port }: FaultProxy) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const seen = { text: '', ended: false, error: '' }
  socket.on('data', (data) => {
    seen.text += data.toString()
  })
  socket.on('end', () => {
    seen.ended = true
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    seen.error = String(error.code)
  })
  cleanups.push(() => socket.destroy())
  await once(socket, 'connect')
  const received = (text: string) => waitFor(text, async () => seen.text === text, 5000)
  return { socket, seen, received }
}

test('sound, it hands on every byte both ways, and the end', async () => {
  const { proxy } = await echo()
  const { socket, seen, received } = await clientOf(proxy)
  const text = 'x'.repeat(1_000_000)
  socket.write(text)
  await received(text)
  expect(proxy.connections).toBe(1)
  socket.end()
  await waitFor('the end', async () => seen.ended && proxy.connections === 0)
})

test('latency and jitter: later, and in order', async () => {
  let turn = 0
  const { proxy } = await echo(() => (turn++ % 2 === 0 ? 1 : 0))
  const { socket, received } = await clientOf(proxy)
  proxy.suffer({ latencyMs: 30, jitterMs: 40 })
  const started = performance.now()
  for (const piece of ['a', 'b', 'c', 'd']) {
    socket.write(piece)
    await sleep(5)
  }
  await received('abcd')
  // Both ways: at least twice the latency.
  expect(performance.now() - started).toBeGreaterThanOrEqual(59)
})

test.each(['both', 'requests', 'replies'] as const)(
  'a black hole (%s) keeps what is sent until it is gone',
  async (blackHole) => {
    const { proxy, atServer } = await echo()
    const { socket, seen, received } = await clientOf(proxy)
    socket.write('a')
    await received('a')
    proxy.suffer({ blackHole })
    socket.write('b')
    await waitFor('the request', async () => atServer[0]?.bytesRead === (blackHole === 'replies' ? 2 : 1))
    await sleep(50)
    expect([seen.text, atServer[0]?.bytesRead]).toEqual(['a', blackHole === 'replies' ? 2 : 1])
    proxy.heal()
    await received('ab')
  },
)

test('a cut is a reset for the client, and the server sees its connection go', async () => {
  const { proxy, atServer } = await echo()
  const { socket, seen, received } = await clientOf(proxy)
  socket.write('a')
  await received('a')
  proxy.cut()
  await waitFor('both ends', async () => seen.error === 'ECONNRESET' && atServer[0]?.destroyed === true)
})

test('half closed, the client reads the end and can still send', async () => {
  const { proxy, atServer } = await echo()
  const { socket, seen, received } = await clientOf(proxy)
  socket.write('a')
  await received('a')
  proxy.halfClose()
  await waitFor('the end', async () => seen.ended)
  socket.write('b')
  await waitFor('the request', async () => atServer[0]?.bytesRead === 2)
})

test('while it refuses, a connection is reset', async () => {
  const { proxy } = await echo()
  proxy.suffer({ refuses: true })
  const socket = connect(proxy.port, '127.0.0.1')
  const [error] = await once(socket, 'error')
  expect(error).toMatchObject({ code: 'ECONNRESET' })
})

test('a slow reader takes so much at a time, and all in the end', async () => {
  const { proxy, atServer } = await echo()
  const { socket, received } = await clientOf(proxy)
  proxy.suffer({ bytesPerSecond: 1000 })
  const text = '0123456789'.repeat(10)
  socket.write(text)
  await waitFor('a part', async () => (atServer[0]?.bytesRead ?? 0) > 0)
  expect(atServer[0]?.bytesRead).toBeLessThan(100)
  await received(text)
})
