import type { Blocks } from './blocks.ts'
import { blockName, type Place } from './table.ts'

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
 * @param blocks a key that is blocked is missed like one over its limit
 * @param kept states that must stay, because they are being decided by
 */
export function leastNeeded(
  next: () => Place | undefined,
  size: number,
  blocks: Blocks,
  clock: number,
  kept: Kept,
): Place | undefined {
  let victim: Place | undefined
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < Math.min(size, MOST_COMPARED); i++) {
    if (i >= COMPARED && least < OVER_LIMIT) break
    const place = next()
    if (place === undefined) break
    if (isKept(kept, place)) continue
    const need = needOf(place, blocks, clock)
    if (victim === undefined || need < least) [victim, least] = [place, need]
    if (need === 0) break
  }
  return victim
}

/** States that must stay, because they are being decided by. Each algorithm counts its own states. */
export type Kept = readonly Pick<Place, 'table' | 'state'>[]

export function isKept(kept: Kept, { table, state }: Place): boolean {
  return kept.some((one) => one.state === state && one.table === table)
}

/** Keys over their limit come after all others. */
const OVER_LIMIT = 2 ** 33

function needOf({ table, name, state }: Place, blocks: Blocks, clock: number): number {
  const { algorithm, slowest: rule } = table
  const left = blocks.size === 0 ? 0 : blocks.left(blockName(rule, name), clock)
  const { used, resetAfterMs } = algorithm.evaluate(state, rule, 0, clock)
  if (left === 0 && used < rule.limit) return used
  return used === 0 ? 0 : OVER_LIMIT + Math.max(left, resetAfterMs ?? Number.POSITIVE_INFINITY)
}
