import type { Place } from './table.ts'

/** How many keys are compared when one has to go, and how many at most where all of them are over their limit. */
const COMPARED = 64
const MOST_COMPARED = 1024

/**
 * The key that is missed least among the next ones: one that is idle; else the one that has used
 * least (a flood of new keys then pushes out its own, and neither a busy key nor one that all share);
 * only where all are over their limit the one soonest to reset.
 *
 * @param next the next key of a round over all
 * @param size how many keys there are
 * @param kept states that must stay, because they are being decided by
 */
export function leastNeeded(
  next: () => Place | undefined,
  size: number,
  clock: number,
  kept: ReadonlySet<number>,
): Place | undefined {
  let victim: Place | undefined
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < Math.min(size, MOST_COMPARED); i++) {
    if (i >= COMPARED && least < OVER_LIMIT) break
    const place = next()
    if (place === undefined) break
    if (kept.has(place.state)) continue
    const need = needOf(place, clock)
    if (victim === undefined || need < least) [victim, least] = [place, need]
    if (need === 0) break
  }
  return victim
}

/** Keys over their limit come after all others. */
const OVER_LIMIT = 2 ** 33

function needOf({ table, name, state }: Place, clock: number): number {
  const { algorithm, slowest: rule, blocks } = table
  const left = blocks?.left(name, clock) ?? 0
  const { used, resetAfterMs } = algorithm.evaluate(state, rule, 0, clock)
  if (left === 0 && used < rule.limit) return used
  return used === 0 ? 0 : OVER_LIMIT + Math.max(left, resetAfterMs ?? Number.POSITIVE_INFINITY)
}
