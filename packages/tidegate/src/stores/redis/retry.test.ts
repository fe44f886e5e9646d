import { describe, expect, test } from 'vitest'
import { PAUSES, replyCode, retry } from './retry.ts'

/** An attempt that fails as told, and then succeeds. */
function failing(...messages: string[]) {
  const attempts: number[] = []
  const attempt = async () => {
    attempts.push(attempts.length)
    const message = messages[attempts.length - 1]
    if (message !== undefined) throw new Error(message)
    return 'decided'
  }
  return { attempt, attempts }
}

const quick = { moving: true, pauses: [0, 0, 0] }

describe('what says that nothing was done', () => {
  test.each([
    'LOADING Redis is loading the dataset in memory',
    "READONLY You can't write against a read only replica.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'CLUSTERDOWN Hash slot not served',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'MOVED 866 127.0.0.1:7001',
    'ASK 866 127.0.0.1:7001',
    'Too many Cluster redirections. Last error: ReplyError: TRYAGAIN Multiple keys request',
  ])('is tried again: %s', async (message) => {
    const { attempt, attempts } = failing(message, message)
    expect(await retry(attempt, quick)).toBe('decided')
    expect(attempts).toHaveLength(3)
  })

  test('is given up after the last pause, with the last error', async () => {
    const { attempt, attempts } = failing('LOADING 1', 'LOADING 2', 'LOADING 3', 'LOADING 4', 'LOADING 5')
    await expect(retry(attempt, quick)).rejects.toThrow('LOADING 4')
    expect(attempts).toHaveLength(4)
  })

  // Its first word is what matters to whoever reads the error: not that there was no connection, but why.
  test('is what is told where the client has left the server because of it', async () => {
    const offline = "Stream isn't writeable and enableOfflineQueue options is false"
    const back = failing('READONLY 1', offline, 'The client is offline')
    expect(await retry(back.attempt, quick)).toBe('decided')
    const away = failing('READONLY 1', offline, offline, offline)
    await expect(retry(away.attempt, quick)).rejects.toThrow('READONLY 1')
    const lost = failing('READONLY 1', 'Connection is closed.')
    await expect(retry(lost.attempt, quick)).rejects.toThrow('Connection is closed.')
  })

  test('is waited for no longer than half a second', () => {
    expect(PAUSES.reduce((sum, pause) => sum + pause, 0)).toBe(500)
    expect([...PAUSES].sort((a, b) => a - b)).toEqual(PAUSES)
  })
})

// It may have run, and would count twice.
describe('everything else is not tried again', () => {
  test.each([
    'Connection is closed.',
    "Stream isn't writeable and enableOfflineQueue options is false",
    'Socket closed unexpectedly',
    'Command timed out',
    'Too many Cluster redirections. Last error: Error: Connection is closed.',
    'ERR user_script:1: MOVED',
    'NOPERM this user has no permissions',
    'READONLYISH',
    'OOM command not allowed',
    '',
  ])('%s', async (message) => {
    const { attempt, attempts } = failing(message)
    await expect(retry(attempt, quick)).rejects.toThrow(message)
    expect(attempts).toHaveLength(1)
  })

  // A client of one node that is sent to another has been given a node of a cluster; a batch is better split.
  test.each(['MOVED 866 127.0.0.1:7001', 'ASK 866 127.0.0.1:7001', 'TRYAGAIN Multiple keys'])(
    'where a slot on the move is not waited for: %s',
    async (message) => {
      const { attempt, attempts } = failing(message)
      await expect(retry(attempt, { ...quick, moving: false })).rejects.toThrow(message)
      expect(attempts).toHaveLength(1)
    },
  )
})

test.each([
  [new Error('NOSCRIPT No matching script'), 'NOSCRIPT'],
  [{ message: 'ASK 1 a:1' }, 'ASK'],
  [undefined, 'undefined'],
  ['text', 'undefined'],
  [new Error(''), ''],
])('the code of %s is %s', (error, code) => expect(replyCode(error)).toBe(code))
