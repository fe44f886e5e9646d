import type { Check } from '../store.ts'
import { hashSlot } from './hash-slot.ts'

/** The checks of one request that lie in one slot of a cluster. */
export interface SlotShare {
  readonly slot: number
  readonly checks: Check[]
  /** The place of each check in the request. */
  readonly places: number[]
}

/** A request's checks by slot, in the order in which the slots occur. */
export function shareBySlot(checks: readonly Check[], keys: readonly string[]): SlotShare[] {
  const shares = new Map<number, SlotShare>()
  for (const [place, check] of checks.entries()) {
    const slot = hashSlot(keys[place] as string)
    let share = shares.get(slot)
    if (share === undefined) {
      share = { slot, checks: [], places: [] }
      shares.set(slot, share)
    }
    share.checks.push(check)
    share.places.push(place)
  }
  return [...shares.values()]
}
