import type { RuleDecision } from '../../decision.ts'
import type { Key } from '../../key.ts'
import type { Rule } from '../../rule.ts'
import { type Check, passesAll } from '../store.ts'
import { Generations } from './generations.ts'

/** How long a refusal is answered here at most, ms: so late is seen what others have given back. */
export const LONGEST_DENIED_MS = 1_000

/** What is known of one counter. */
interface Slot {
  denied: Denied | undefined
  /** Counts what was charged, as far as it went through here. */
  charges: number
  /** The turn in which something was last given back, or changed otherwise. Older refusals say nothing. */
  readonly forgottenIn: number
}

/** One request that the store has refused. */
interface Denied {
  readonly checks: readonly Check[]
  readonly slots: readonly Slot[]
  /** Of each slot, when the refusal came. */
  readonly charges: readonly number[]
  readonly figures: readonly RuleDecision[]
  /** The time at which the figures are true, or a little before. */
  readonly at: number
  readonly until: number
  /** What was last answered, and how many ms after `at`. */
  moved: readonly RuleDecision[]
  movedBy: number
}

/** A request on its way to the store. */
export interface Sent {
  readonly at: number
  readonly turn: number
}

/** Requests that the store has just refused. Times are of one clock, ms. */
export class DeniedRequests {
  readonly #slots: Generations<Slot>
  readonly #answered = new WeakSet<RuleDecision>()
  #turn = 0

  constructor(maxKeys: number) {
    this.#slots = new Generations(maxKeys)
  }

  /** How many counters are remembered. */
  get size(): number {
    return this.#slots.size
  }

  /** Whether the figures were made here. */
  has(figures: RuleDecision): boolean {
    return this.#answered.has(figures)
  }

  sent(now: number): Sent {
    return { at: now, turn: this.#turn }
  }

  /** The figures of a request that has just been refused, as they are by now. */
  find(checks: readonly Check[], now: number): readonly RuleDecision[] | undefined {
    if (this.#slots.isEmpty) return undefined
    const { rule, key } = checks[0] as Check
    const first = this.#slots.get(rule, key)
    if (first === undefined) return undefined
    if (checks.length === 1) {
      const { denied } = first
      return denied?.checks.length === 1 && isSame(denied, checks, first, 0) ? this.#moved(denied, now) : undefined
    }
    const slots = [first]
    for (let i = 1; i < checks.length; i++) {
      const one = checks[i] as Check
      const slot = this.#slots.get(one.rule, one.key)
      if (slot === undefined) return undefined
      slots.push(slot)
    }
    for (const { denied } of slots) {
      if (denied?.checks.length !== checks.length) continue
      if (slots.every((slot, i) => isSame(denied, checks, slot, i))) return this.#moved(denied, now)
    }
    return undefined
  }

  /**
   * Takes notice of what the store has answered.
   * @param at the time at which the figures are true
   * @param isCharged whether the request was to be charged
   */
  learn(checks: readonly Check[], figures: readonly RuleDecision[], sent: Sent, at: number, isCharged: boolean): void {
    if (!passesAll(checks, figures)) this.#remember(checks, figures, sent, at, isCharged)
    else if (isCharged) this.charged(checks)
  }

  /** These counters have been charged: who was refused by them waits longer now. */
  charged(checks: readonly Check[]): void {
    if (this.#slots.isEmpty) return
    for (const { rule, key, cost } of checks) {
      const slot = cost === 0 ? undefined : this.#slots.get(rule, key)
      if (slot !== undefined) slot.charges++
    }
  }

  /** Something of this counter has been given back, or changed otherwise. */
  forget(rule: Rule, key: Key): void {
    this.#slots.set(rule, key, { denied: undefined, charges: 0, forgottenIn: ++this.#turn })
  }

  #remember(checks: readonly Check[], figures: readonly RuleDecision[], sent: Sent, at: number, isCharged: boolean) {
    if (!checks.every((check, i) => isLasting(check, figures[i] as RuleDecision, isCharged))) return
    const until = sent.at + Math.min(LONGEST_DENIED_MS, ...figures.map(constantFor))
    if (until <= at) return
    const slots = checks.map(({ rule, key }) => this.#slots.get(rule, key) ?? this.#open(rule, key))
    if (slots.some(({ forgottenIn }) => forgottenIn > sent.turn)) return
    const charges = slots.map((slot) => slot.charges)
    const denied = { checks, slots, charges, figures, at, until, moved: figures, movedBy: -1 }
    for (const slot of slots) slot.denied = denied
  }

  #open(rule: Rule, key: Key): Slot {
    const slot = { denied: undefined, charges: 0, forgottenIn: 0 }
    this.#slots.set(rule, key, slot)
    return slot
  }

  #moved(denied: Denied, now: number): readonly RuleDecision[] | undefined {
    if (now >= denied.until || now < denied.at) return undefined
    const by = Math.floor(now - denied.at)
    if (by !== denied.movedBy) {
      denied.moved = denied.figures.map((figures) => movedOn(figures, by))
      denied.movedBy = by
      for (const one of denied.moved) this.#answered.add(one)
    }
    return denied.moved
  }
}

/** Whether this refusal may be answered here. */
function isLasting({ rule, cost }: Check, { allowed, reason }: RuleDecision, isCharged: boolean): boolean {
  if (!rule.deniedCache || rule.algorithm === 'concurrency') return false
  // A rule in shadow is told of; it is not what the request was refused by.
  if (allowed || rule.shadow) return true
  // The first refusal of a rule with a penalty begins a block: those after it are refused otherwise. A peek begins none.
  if (rule.penalty !== undefined && (reason !== 'blocked' || !isCharged)) return false
  return cost > 0 && (reason === 'over_limit' || reason === 'blocked')
}

/** For how long these figures only count down, ms. */
function constantFor({ allowed, retryAfterMs, resetAfterMs }: RuleDecision): number {
  const ms = allowed ? resetAfterMs : retryAfterMs
  return ms === null || (allowed && ms === 0) ? Number.POSITIVE_INFINITY : ms
}

/** Whether one check of a request is that of a refused request, and nothing has been charged since to what refused it. */
function isSame({ checks, slots, charges, figures }: Denied, asked: readonly Check[], slot: Slot, i: number): boolean {
  const known = checks[i] as Check
  const { rule, cost } = asked[i] as Check
  if (known.rule !== rule || slots[i] !== slot) return false
  const { allowed, reason } = figures[i] as RuleDecision
  if (!allowed && charges[i] !== slot.charges) return false
  if (known.cost === cost) return true
  // A greater cost is refused as well; where all that counts ends at one time, for as long.
  const endsAtOnce = rule.algorithm === 'fixed-window' || rule.algorithm === 'quota'
  return endsAtOnce && !allowed && reason === 'over_limit' && cost > known.cost && cost <= rule.limit
}

function movedOn(figures: RuleDecision, by: number): RuleDecision {
  const { retryAfterMs, resetAfterMs, at } = figures
  return { ...figures, retryAfterMs: less(retryAfterMs, by), resetAfterMs: less(resetAfterMs, by), at: at + by }
}

function less(ms: number | null, by: number): number | null {
  return ms === null ? null : Math.max(0, ms - by)
}
