import type { Redis } from 'ioredis'

/** Commands that run others: what happens within them is in their own time already. */
const OUTER = ['evalsha', 'eval', 'multi', 'exec']

/** Begins anew what `readServerTime` reads. */
export async function resetServerTime(client: Redis): Promise<void> {
  await client.config('RESETSTAT')
}

/** Microseconds that the server has spent in scripts and transactions, and the number of such calls. */
export async function readServerTime(client: Redis): Promise<{ microseconds: number; calls: number }> {
  const text = await client.info('commandstats')
  let [microseconds, calls] = [0, 0]
  for (const [, command, count, time] of text.matchAll(/cmdstat_(\w+):calls=(\d+),usec=(\d+)/g)) {
    if (!OUTER.includes(command as string)) continue
    calls += Number(count)
    microseconds += Number(time)
  }
  return { microseconds, calls }
}
