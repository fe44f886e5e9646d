import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'
import { until } from '../testing/program.ts'

const READ = 'reader-0123456789abcdef'
const rules = [{ name: 'per-user', key: ['user'], limit: 1, window: '1m' }]

let service: ListeningService | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await service?.close()
})

/** A reader on a connection of its own; what it has been sent so far. */
function reader(headers: Record<string, string> = {}) {
  const socket = connect((service as ListeningService).port, '127.0.0.1')
  sockets.push(socket)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => undefined)
  socket.write(`GET /v1/events HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`)
  const read = { socket, text: '', isEnded: false }
  socket.on('data', (chunk) => {
    read.text += String(chunk)
  })
  socket.on('close', () => {
    read.isEnded = true
  })
  return read
}
const limit = (user: string) => service?.post('/v1/limit', { descriptor: { user, secret: 'hidden' } })

describe('events', () => {
  test('HEAD is no reader', async () => {
    service = await listeningService({ rules })
    expect((await fetch(`${service.url}/v1/events`, { method: 'HEAD' })).status).toBe(405)
  })

  test('what has been missed comes whole, however long it is', async () => {
    service = await listeningService({ rules })
    const first = reader()
    await until(() => first.text.includes('retry: 2000'))
    const user = 'u'.repeat(4000)
    await limit(user)
    await limit(user)
    await until(() => first.text.includes('event: denial'))
    first.socket.destroy()
    for (let i = 0; i < 80; i++) await limit(user)
    const [, id = ''] = /id: (\S+)\n/.exec(first.text) ?? []
    const again = reader({ 'last-event-id': id })
    await until(() => again.text.split('event: denial').length > 75)
    expect(again.isEnded).toBe(false)
  })

  test('a refusal, by the dimensions of its rule alone, and rules that are put', async () => {
    service = await listeningService({ rules })
    const read = reader()
    await until(() => read.text.includes('retry: 2000'))
    await limit('a')
    await limit('a')
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ rules: [] }) }
    await fetch(`${service.url}/v1/rules`, init)
    await until(() => read.text.includes('event: config'))
    expect(read.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(read.text).toContain('content-type: text/event-stream')
    const [, data = ''] = /id: \S+\nevent: denial\ndata: (.*)\n\n/.exec(read.text) ?? []
    expect(JSON.parse(data)).toEqual({
      ...{ at: expect.any(Number), rule: 'per-user', reason: 'over_limit', limit: 1, used: 1 },
      ...{ retryAfterMs: 60_000, source: 'store', key: { user: 'a' } },
    })
    expect(read.text).toMatch(/event: config\ndata: \{.*"result":"accepted".*"removed":\["per-user"\]/)
    expect(read.text.match(/event: denial/g)).toHaveLength(1)
    expect(read.text).not.toContain('hidden')
  })

  test('who comes again gets what it has missed, or hears that it is not kept', async () => {
    service = await listeningService({ rules })
    const first = reader()
    await until(() => first.text.includes('retry'))
    for (const user of ['a', 'a', 'a', 'a']) await limit(user)
    await until(() => first.text.split('event: denial').length === 4)
    const [id = ''] = [...first.text.matchAll(/^id: (\S+)$/gm)].map(([, one]) => one as string)
    const again = reader({ 'Last-Event-ID': id })
    await until(() => again.text.split('event: denial').length === 3)
    expect(again.text).not.toContain(`id: ${id}\n`)
    const late = reader({ 'Last-Event-ID': 'gone' })
    await until(() => late.text.includes('event: gap'))
  })

  test('many in a second are some, and a number', async () => {
    service = await listeningService({ rules })
    const { events } = service
    const told: object[] = []
    events.listen(({ data }) => told.push(data))
    const change = { from: 'closed', to: 'open', retryInMs: 1 } as const
    for (let i = 0; i < 50; i++) events.tell('breaker', () => change)
    expect(told).toHaveLength(20)
    await until(() => {
      events.tell('breaker', () => change)
      return told.length > 20
    })
    expect(told[20]).toMatchObject({ to: 'open', suppressed: expect.any(Number) })
  })

  test('a reader that does not read is let go, and the others go on', async () => {
    service = await listeningService({ rules })
    const { events } = service
    const [slow, quick] = [reader(), reader()]
    await until(() => slow.text.includes('retry') && quick.text.includes('retry'))
    slow.socket.pause()
    const text = 'x'.repeat(20_000)
    let told = 0
    await until(() => {
      for (let i = 0; i < 10; i++) events.take({ id: `${++told}`, type: 'config', data: { text } })
      return told > 2000
    })
    await until(() => quick.text.includes(`id: ${told}\n`))
    slow.socket.resume()
    await until(() => slow.isEnded)
    expect(slow.text).not.toContain(`id: ${told}\n`)
    expect(quick.isEnded).toBe(false)
  })

  test('readers do not hold up the end', async () => {
    service = await listeningService({ rules })
    const read = reader()
    await until(() => read.text.includes('retry'))
    await service.close()
    await until(() => read.isEnded)
  })

  test('are for those who may read', async () => {
    service = await listeningService({ rules, tokens: `read:${READ}` })
    expect((await fetch(`${service.url}/v1/events`)).status).toBe(401)
    const read = reader({ authorization: `Bearer ${READ}` })
    await until(() => read.text.includes('retry'))
  })
})
