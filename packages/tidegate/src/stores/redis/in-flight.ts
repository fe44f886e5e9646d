import type { Connection } from './connection.ts'

/**
 * A connection that has at most `most` commands on their way at a time; the others wait their turn, in order. Thousands
 * at once (a turn that asks for keys of thousands of slots, or gives back thousands of leases) are more than some clients
 * take: GLIDE fails what exceeds 1,000.
 */
export function boundInFlight(connection: Connection, most: number): Connection {
  const waiting: (() => void)[] = []
  let inFlight = 0
  let first = 0
  const leave = () => {
    inFlight--
    const next = waiting[first]
    if (next === undefined) return
    first++
    if (first === waiting.length) {
      waiting.length = 0
      first = 0
    }
    next()
  }
  const send = async (command: string, args: string[], firstKey?: string): Promise<unknown> => {
    inFlight++
    try {
      return await connection.send(command, args, firstKey)
    } finally {
      leave()
    }
  }
  return {
    ...connection,
    send: (command, args, firstKey) => {
      if (inFlight < most) return send(command, args, firstKey)
      return new Promise((resolve, reject) => {
        waiting.push(() => send(command, args, firstKey).then(resolve, reject))
      })
    },
  }
}
