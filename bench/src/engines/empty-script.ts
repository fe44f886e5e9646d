import { read } from '../reading.ts'
import type { Engine } from './engine.ts'

/** The least that a decision in Redis can cost a caller: a script that decides nothing. */
export const emptyScript: Engine = {
  name: 'empty EVALSHA',
  counts: 'nothing',
  open: async (client) => {
    const sha1 = String(await client.script('LOAD', 'return 1'))
    return async (key) => {
      const reply = (await client.evalsha(sha1, 1, key)) as number
      read(reply === 1, reply, 0)
      return reply === 1
    }
  },
}
