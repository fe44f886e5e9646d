import type { Connection } from './connection.ts'

/** How many that have been sent stay in the line until it is made shorter. */
const MOST_PASSED = 1024

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
    // What has been sent is let go of now and then, also where the line is never empty.
    if (first === waiting.length || first >= MOST_PASSED) {
      waiting.splice(0, first)
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
