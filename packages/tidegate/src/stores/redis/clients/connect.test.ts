import { describe, expect, test, vi } from 'vitest'
import { redisStore } from '../redis-store.ts'
import { connect } from './connect.ts'

// The real clients are put to use in packages/conformance. Here: how they are told apart, and what they are asked.
const none = () => undefined
const ioredis = { call: none, defineCommand: none }
const settled = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 }

describe('a client', () => {
  test.each([
    ['nothing', undefined, 'received undefined'],
    ['null', null, 'received null'],
    ['a URL, which is not shown', 'redis://:secret@127.0.0.1', 'received a string'],
    ['an empty object', {}, 'received an object (Object)'],
    ['a function', none, 'received a function'],
    ['a promise of one', Promise.resolve(ioredis), 'received a promise: await it'],
    ['half of an ioredis client', { call: none }, 'received an object'],
    ['a Map', new Map(), 'received an object (Map)'],
  ])('that is %s is refused', (_, client, received) => {
    const message = `client: expected a client made by ioredis, iovalkey, node-redis or @valkey/valkey-glide, ${received}`
    const error = { code: 'ERR_CLIENT_UNSUPPORTED', field: 'client', message: expect.stringContaining(message) }
    expect(() => redisStore(client as never)).toThrow(expect.objectContaining(error))
  })

  test('of ioredis or iovalkey gets command and arguments', async () => {
    const call = vi.fn(async () => 1)
    const connection = connect({ ...ioredis, call, options: settled })
    await connection.send('DEL', ['k'], 'k')
    expect(call).toHaveBeenCalledWith('del', ['k'])
    expect(connection.cluster).toBe(false)
    expect(connect({ ...ioredis, isCluster: true, options: { retryDelayOnFailover: 0 } }).cluster).toBe(true)
  })

  test('of node-redis gets one list', async () => {
    const sendCommand = vi.fn(async () => 1)
    const connection = connect({ sendCommand, multi: none })
    await connection.send('DEL', ['k'], 'k')
    expect(sendCommand).toHaveBeenCalledWith(['DEL', 'k'])
    expect(connection.cluster).toBe(false)
  })

  test('of node-redis for a cluster is told the first key, and that it writes', async () => {
    const sendCommand = vi.fn(async () => 1)
    const connection = connect({ sendCommand, multi: none, slots: [], masters: [] })
    await connection.send('DEL', ['k'], 'k')
    await connection.send('PING', [])
    expect(sendCommand.mock.calls).toEqual([
      ['k', false, ['DEL', 'k']],
      [undefined, false, ['PING']],
    ])
    expect(connection.cluster).toBe(true)
  })

  test('of node-redis that gives up redirections says what the node said', async () => {
    const moved = new Error('MOVED 1 127.0.0.1:7001')
    const sendCommand = () => Promise.reject(new Error('Too many Cluster redirections', { cause: moved }))
    const connection = connect({ sendCommand, multi: none, slots: [], masters: [] })
    await expect(connection.send('PING', [])).rejects.toBe(moved)
  })

  test.each([
    ['NoScriptError: No matching script. Please use EVAL.', 'NOSCRIPT No matching script. Please use EVAL.'],
    ['TryAgain: Multiple keys', 'TRYAGAIN Multiple keys'],
    ['Moved: 1 127.0.0.1:7001', 'MOVED 1 127.0.0.1:7001'],
  ])('of GLIDE that says %s is understood', async (text, message) => {
    const customCommand = () => Promise.reject(new Error(`An error was signalled by the server: - ${text}`))
    const connection = connect({ customCommand, exec: none })
    await expect(connection.send('PING', [])).rejects.toThrow(message)
    expect(connection.cluster).toBe(false)
    expect(connect({ customCommand, exec: none, fcallWithRoute: none }).cluster).toBe(true)
  })
})

describe('a warning', () => {
  async function warningsOf(...clients: unknown[]): Promise<unknown[]> {
    const warnings: Error[] = []
    const keep = (warning: Error) => warnings.push(warning)
    process.on('warning', keep)
    for (const client of clients) connect(client)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', keep)
    return warnings.map((warning) => [(warning as { code?: string }).code, warning.message.split('make the ')[1]])
  }

  // First, since each warning is given once.
  test('is not for one that is made as the guide says', async () => {
    const clients = [
      { ...ioredis, options: settled },
      { ...ioredis, options: { autoResendUnfulfilledCommands: false, commandTimeout: 50 } },
      { ...ioredis, isCluster: true, options: { retryDelayOnFailover: 0 } },
    ]
    expect(await warningsOf(...clients)).toEqual([])
  })

  test('is for a client that sends again, or that forgets, once for each setting', async () => {
    const renewing = { retryDelayOnFailover: 0, clusterNodeRetryStrategy: none }
    const risky = [
      { ...ioredis, options: {} },
      { ...ioredis, options: { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 20 } },
      { ...ioredis, isCluster: true, options: { retryDelayOnFailover: 100 } },
      { ...ioredis, isCluster: true, options: renewing },
    ]
    expect(await warningsOf(...risky, ...risky)).toEqual([
      ['TIDEGATE_CLIENT_RESENDS', 'client with autoResendUnfulfilledCommands: false'],
      ['TIDEGATE_CLIENT_FORGETS', 'client with maxRetriesPerRequest: 0, or with a commandTimeout'],
      ['TIDEGATE_CLIENT_RESENDS', 'Cluster with retryDelayOnFailover: 0'],
      ['TIDEGATE_CLIENT_RESENDS', 'Cluster with redisOptions: { autoResendUnfulfilledCommands: false }'],
    ])
  })
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
