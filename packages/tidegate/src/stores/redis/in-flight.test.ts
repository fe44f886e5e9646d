import { expect, test } from 'vitest'
import { boundInFlight } from './in-flight.ts'

function slow() {
  const answers: ((fails?: Error) => void)[] = []
  const sent: string[] = []
  const connection = boundInFlight(
    {
      cluster: false,
      send: (_, args) =>
        new Promise((resolve, reject) => {
          sent.push(args[0] as string)
          answers.push((failure) => (failure === undefined ? resolve(args[0]) : reject(failure)))
        }),
    },
    2,
  )
  return { connection, answers, sent }
}

test('no more than so many are on their way; the others follow in order, also behind one that fails', async () => {
  const { connection, answers, sent } = slow()
  const all = Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => connection.send('GET', [name])))
  expect(sent).toEqual(['a', 'b'])
  answers[1]?.()
  await new Promise(setImmediate)
  expect(sent).toEqual(['a', 'b', 'c'])
  answers[0]?.(new Error('gone'))
  for (let i = 2; i < 5; i++) {
    await new Promise(setImmediate)
    answers[i]?.()
  }
  const settled = await all
  expect(sent).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'])
  const again = connection.send('GET', ['f'])
  answers[5]?.()
  expect(await again).toBe('f')
})
