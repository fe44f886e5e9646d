import { expect, test } from 'vitest'
import type { Connection } from './connection.ts'
import { runScript } from './script.ts'

const script = { sha1: 'abc', source: 'return 1' }

/** A connection that fails with each error in turn, and then answers. */
function failing(...errors: unknown[]) {
  const sent: string[][] = []
  const connection: Connection = {
    cluster: false,
    send: async (command, args) => {
      sent.push([command, ...args])
      if (errors.length > 0) throw errors.shift()
      return 'done'
    },
  }
  return { connection, sent }
}

test('a script that the server does not know is sent whole, once', async () => {
  const { connection, sent } = failing(new Error('NOSCRIPT No matching script. Please use EVAL.'))
  expect(await runScript(connection, script, ['1', 'key'])).toBe('done')
  expect(sent).toEqual([
    ['EVALSHA', 'abc', '1', 'key'],
    ['EVAL', 'return 1', '1', 'key'],
  ])
})

test('an error of another realm is known by its message', async () => {
  const { connection, sent } = failing({ message: 'NOSCRIPT No matching script.' })
  await runScript(connection, script, [])
  expect(sent).toHaveLength(2)
})

// The kind of fault: a retry that counts twice. Whoever lost the connection does not know whether the script has run.
test.each([
  new Error('Connection is closed.'),
  new Error('Command timed out'),
  new Error('ECONNRESET'),
  new Error('ERR Error running script: NOSCRIPT'),
  new Error('OOM command not allowed'),
  'NOSCRIPT in a string',
  undefined,
  null,
])('%s is not retried', async (error) => {
  const { connection, sent } = failing(error)
  await expect(runScript(connection, script, [])).rejects.toBe(error)
  expect(sent).toHaveLength(1)
})

test('a second unknown script is an error, not a loop', async () => {
  const { connection, sent } = failing(new Error('NOSCRIPT'), new Error('NOSCRIPT'))
  await expect(runScript(connection, script, [])).rejects.toThrow('NOSCRIPT')
  expect(sent).toHaveLength(2)
})
