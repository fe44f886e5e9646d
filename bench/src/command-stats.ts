import type { Redis } from 'ioredis'

/** Commands that run others: what happens within them is in their own time already. */
const OUTER = ['evalsha', 'eval', 'fcall', 'multi', 'exec']

/** Begins anew what `readServerTime` reads. */
export async function resetServerTime(...servers: readonly Redis[]): Promise<void> {
  for (const server of servers) await server.config('RESETSTAT')
}

/** Microseconds that the servers have spent in scripts and transactions, and the number of such calls. */
export async function readServerTime(
  ...servers: readonly Redis[]
): Promise<{ readonly microseconds: number; readonly calls: number }> {
  let [microseconds, calls] = [0, 0]
  for (const server of servers) {
    const text = await server.info('commandstats')
    for (const [, command, count, time] of text.matchAll(/cmdstat_(\w+):calls=(\d+),usec=(\d+)/g)) {
      if (!OUTER.includes(command as string)) continue
      calls += Number(count)
      microseconds += Number(time)
    }
  }
  return { microseconds, calls }
}
