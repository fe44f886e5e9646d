import { describe, expect, test, vi } from 'vitest'
import { connect } from './connection.ts'
import { redisStore } from './redis-store.ts'

const none = () => undefined

describe('a client', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a URL', 'redis://127.0.0.1'],
    ['an empty object', {}],
    ['a function', none],
    ['half of an ioredis client', { call: none }],
    ['an ioredis cluster', { call: none, defineCommand: none, isCluster: true }],
    ['a node-redis cluster', { sendCommand: none, multi: none, slots: [], masters: [] }],
  ])('that is %s is refused', (_, client) => {
    const code = 'ERR_CLIENT_UNSUPPORTED'
    expect(() => redisStore(client as never)).toThrow(expect.objectContaining({ code, field: 'client' }))
  })

  test('of ioredis gets command and arguments, of node-redis one list', async () => {
    const call = vi.fn(async () => 1)
    await connect({ call, defineCommand: none, options: { autoResendUnfulfilledCommands: false } }).send('DEL', ['k'])
    expect(call).toHaveBeenCalledWith('DEL', ['k'])
    const sendCommand = vi.fn(async () => 1)
    await connect({ sendCommand, multi: none }).send('DEL', ['k'])
    expect(sendCommand).toHaveBeenCalledWith(['DEL', 'k'])
  })
})

test('an ioredis client that resends is warned of, once', async () => {
  const warnings: Error[] = []
  const keep = (warning: Error) => warnings.push(warning)
  process.on('warning', keep)
  connect({ call: none, defineCommand: none, options: { autoResendUnfulfilledCommands: false } })
  for (let i = 0; i < 3; i++) connect({ call: none, defineCommand: none, options: {} })
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', keep)
  expect(warnings.map((warning) => (warning as { code?: string }).code)).toEqual(['TIDEGATE_CLIENT_RESENDS'])
})

test.each([
  [{ prefix: '' }, 'prefix: expected 1 to 32 letters'],
  [{ prefix: 'a{b}' }, 'prefix: expected'],
  [{ hashKeys: 'yes' }, 'hashKeys: expected true or false, received "yes"'],
  [{ maxBatch: 0 }, 'maxBatch: expected a whole number from 1 to 1,000, received 0'],
  [{ maxPending: Number.NaN }, 'maxPending: expected a whole number'],
  [{ clock: 5 }, 'clock: expected a function'],
  [{ Prefix: 'a' }, 'Prefix: unknown option'],
])('the options %j are refused', (options, message) => {
  const client = { sendCommand: none, multi: none, isReady: true }
  expect(() => redisStore(client as never, options as never)).toThrow(message)
})
