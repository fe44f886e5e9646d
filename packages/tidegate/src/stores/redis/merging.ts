import type { Rule } from '../../rule.ts'
import type { Check } from '../store.ts'
import type { Pending } from './pending.ts'

/**
 * Finds the requests of one batch that are equal: one limit, one key, one cost. The script decides them as one, with the
 * result of deciding one after the other. A request joins an earlier one only if none between them touches its key.
 */
export class Merging {
  /** The latest request that others can join, by the name of its key. The same key has always the same name. */
  readonly #latest = new Map<string, Pending>()

  /** @returns whether it has joined an earlier request; else it goes by itself */
  join(pending: Pending): boolean {
    const { checks, keys, mode } = pending
    const [check] = checks
    if (check === undefined || checks.length > 1 || check.id !== undefined || !canMerge(check.rule)) {
      for (const [i, touched] of checks.entries()) this.#latest.delete(nameOf(touched, keys[i] as string))
      return false
    }
    const key = nameOf(check, keys[0] as string)
    const earlier = this.#latest.get(key)
    if (earlier === undefined || !isEqual(earlier, pending)) {
      if (mode === 'consume' || mode === 'peek') this.#latest.set(key, pending)
      else this.#latest.delete(key)
      return false
    }
    if (earlier.alike === undefined) earlier.alike = [pending]
    else earlier.alike.push(pending)
    return true
  }

  /** Begins the next batch. */
  clear(): void {
    this.#latest.clear()
  }
}

/** What a key is known by here: as the caller has it, where that is one text, which need not be hashed anew. */
function nameOf({ key }: Check, redisKey: string): string {
  return typeof key === 'string' ? key : redisKey
}

function isEqual({ checks: [first], mode }: Pending, other: Pending): boolean {
  const [second] = other.checks
  return mode === other.mode && first?.rule === second?.rule && first?.cost === second?.cost
}

/**
 * Whether several admissions at one time differ in nothing but what each has used before it. A penalty makes the first
 * refusal another than those behind it.
 */
function canMerge({ algorithm, penalty }: Rule): boolean {
  if (penalty !== undefined) return false
  return algorithm === 'sliding-window' || algorithm === 'fixed-window' || algorithm === 'quota'
}

/** All requests of a batch. */
export function everyRequest(batch: readonly Pending[]): Pending[] {
  return batch.flatMap((pending) => (pending.alike === undefined ? pending : [pending, ...pending.alike]))
}

/** Requests that are equal, as one again; undefined where there are none. */
export function mergeAll([first, ...others]: readonly Pending[]): Pending | undefined {
  return first && { ...first, alike: others.length === 0 ? undefined : others }
}
