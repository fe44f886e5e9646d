import type { Admission } from '../../admission.ts'
import { admitted, type RuleDecision, refused } from '../../decision.ts'
import type { Quota } from '../../quota.ts'
import { timeFor } from '../../refill.ts'
import { type Algorithm, UNTOUCHED } from '../algorithm.ts'
import { offsetOf, Slab } from '../slab.ts'
import { type Deficit, deficitAfter, refilledIn, tokensIn } from './deficit.ts'

/** What a state holds, as offsets in its row. */
/** Time of the newest admission, ms. */
const LAST = 0
/** What was missing from a full bucket right after it: whole tokens, */
const WHOLE = 1
/** and a remainder in window-ths of a token: every refill of this window can be counted in these. */
const REST = 2

/**
 * The token bucket: it holds `limit` tokens, `refillUnits / tokenUnits` of a token come every ms until it is full, and
 * a request is admitted if its cost is there in whole tokens, which it takes. Also the generic cell rate algorithm and the
 * leaky bucket as a meter (ITU-T I.371, 1992), which are the same seen from the other end: what is kept is what is missing.
 *
 * Time is ms and everything else whole numbers, so that any rate is kept to the token over any time.
 */
export class TokenBucket implements Algorithm {
  readonly #rows = new Slab()

  open(): number {
    const state = this.#rows.open()
    this.#empty(state)
    return state
  }

  release(state: number): void {
    this.#rows.release(state)
  }

  evaluate(state: number, quota: Quota, cost: number, clock: number): RuleDecision {
    const at = this.#time(state, quota, clock)
    const { whole, rest } = this.#deficit(state, quota, at)
    const used = tokensIn(whole, rest)
    const wait = (tokens: number) => timeFor(quota, tokens, rest) + at - clock
    if (used + cost <= quota.limit) return admitted(quota, used + cost, wait(whole + cost), at)
    const retryAfterMs = cost > quota.limit ? null : wait(whole + cost - quota.limit)
    return refused(quota, cost, used, retryAfterMs, wait(whole), at)
  }

  commit(state: number, quota: Quota, cost: number, at: number): void {
    const { whole, rest } = this.#deficit(state, quota, at)
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    row[offset + LAST] = at
    row[offset + WHOLE] = whole + cost
    row[offset + REST] = rest * (quota.windowMs / quota.tokenUnits)
  }

  unsettled(state: number, at: number): boolean {
    return at < this.#last(state)
  }

  idle(state: number, quota: Quota, clock: number): boolean {
    return clock >= this.#last(state) && this.#deficit(state, quota, clock) === FULL
  }

  refund(state: number, quota: Quota, cost: number, clock: number, of: Admission | undefined): number {
    const at = this.#time(state, quota, clock)
    const { whole, rest } = this.#deficit(state, quota, at)
    const used = tokensIn(whole, rest)
    const gone = refilledSince(quota, at, of)
    if (used === 0 || gone === undefined || gone.whole >= cost) return 0
    const units = rest + gone.rest
    const carried = units >= quota.tokenUnits ? 1 : 0
    if (tokensIn(whole + gone.whole + carried, units - carried * quota.tokenUnits) <= cost) {
      this.#empty(state)
      return used
    }
    // Where the clock came right, that is settled first. The refund itself is made at the newest admission, because
    // the clock can step back to it; what has been refilled since is the same with or without it.
    if (this.unsettled(state, at)) this.commit(state, quota, 0, at)
    this.#subtract(state, quota, cost, gone)
    return cost - gone.whole
  }

  /** Takes `cost` less what is `gone` from what was missing at the newest admission, which was more. */
  #subtract(state: number, { windowMs, tokenUnits }: Quota, cost: number, gone: Deficit): void {
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const rest = (row[offset + REST] as number) + gone.rest * (windowMs / tokenUnits)
    const carried = rest >= windowMs ? 1 : 0
    row[offset + REST] = rest - carried * windowMs
    ;(row[offset + WHOLE] as number) += gone.whole + carried - cost
  }

  /** The time of the decision: never before the newest admission, unless that is further ahead than a full refill. */
  #time(state: number, { spanMs }: Quota, clock: number): number {
    const last = this.#last(state)
    return last > clock && last - clock <= spanMs ? last : clock
  }

  /** What is missing at `at`. Where that is before the newest admission, the clock came right: nothing has been refilled. */
  #deficit(state: number, quota: Quota, at: number): Deficit {
    if (state === UNTOUCHED) return FULL
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const share = quota.windowMs / quota.tokenUnits
    // Rounded up where another refill has other units.
    const rest = Math.ceil((row[offset + REST] as number) / share)
    const carried = rest === quota.tokenUnits ? 1 : 0
    const whole = (row[offset + WHOLE] as number) + carried
    const elapsed = Math.max(0, at - (row[offset + LAST] as number))
    return deficitAfter(quota, whole, carried === 1 ? 0 : rest, elapsed) ?? FULL
  }

  #last(state: number): number {
    return state === UNTOUCHED ? Number.NEGATIVE_INFINITY : (this.#rows.page(state)[offsetOf(state) + LAST] as number)
  }

  #empty(state: number): void {
    const offset = offsetOf(state)
    this.#rows.page(state).fill(0, offset, offset + REST + 1)
    // Full since ever, whatever the clock.
    this.#rows.page(state)[offset + LAST] = Number.NEGATIVE_INFINITY
  }
}

const FULL: Deficit = { whole: 0, rest: 0 }

/**
 * What the bucket has refilled since an admission: perhaps just these tokens, so that they are not given back again.
 * Undefined where the admission is ahead of the clock: it was counted anew when that came right, and how much is left
 * of it is not known.
 */
function refilledSince(quota: Quota, at: number, of: Admission | undefined): Deficit | undefined {
  if (of === undefined) return FULL
  if (of.at === undefined || of.at > at) return undefined
  const { whole, rest } = refilledIn(quota, at - of.at)
  // What was missing before it was refilled first.
  const { usedBefore = 0 } = of
  return whole < usedBefore ? FULL : { whole: whole - usedBefore, rest }
}
