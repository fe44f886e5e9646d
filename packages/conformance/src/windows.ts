/** The most of the times, which are in order, that lie in any window (t - windowMs, t]. */
export function mostInAnyWindow(times: readonly number[], windowMs: number): number {
  let most = 0
  let first = 0
  for (const [i, time] of times.entries()) {
    while ((times[first] as number) <= time - windowMs) first++
    most = Math.max(most, i - first + 1)
  }
  return most
}
