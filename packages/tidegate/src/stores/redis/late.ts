import type { Pending } from './pending.ts'

/** How the scripts say that they ran later than they may, so that nothing was done: with their time. */
const LATE = /\bLATE\W+(\d+)/

/** The server's time at which a script was too late, ms since the epoch; undefined where the error is another. */
export function lateAt(error: unknown): number | undefined {
  const [, time] = LATE.exec(String((error as { message?: unknown } | null)?.message)) ?? []
  return time === undefined ? undefined : Number(time)
}

/** The first argument of every script: the time to decide at, or the latest that it may be, or '' for any. */
export function timeWord(now: number | undefined, latest: number | undefined): string {
  if (now !== undefined) return String(now)
  return latest === undefined ? '' : `<${latest}`
}

/** When the first of these requests is given up, by the monotonic clock. */
export function earliestOf(requests: readonly Pending[]): number {
  let earliest = Number.POSITIVE_INFINITY
  for (const { until, alike } of requests) {
    earliest = Math.min(earliest, until)
    if (alike !== undefined) for (const other of alike) earliest = Math.min(earliest, other.until)
  }
  return earliest
}
