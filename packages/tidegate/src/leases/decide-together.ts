import type { Clock } from '../clock.ts'
import type { RuleDecision } from '../decision.ts'
import type { Key } from '../key.ts'
import type { Rule } from '../rule.ts'
import { type Check, type Mode, passesAll } from '../stores/store.ts'
import type { Pool } from './pool.ts'
import type { Outcome } from './pool-events.ts'

/** What one request is decided by. */
export interface Deciders {
  /** The pool of a leased rule; undefined where the store decides. */
  poolFor(rule: Rule, key: Key): Pool | undefined
  /** Asks the store, by the rules as it counts them. */
  decide(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]>
  /** Marks figures as made here. */
  own(figures: RuleDecision): RuleDecision
  readonly now: Clock
}

/** A check of a leased rule, with what it has come to. */
interface Leased {
  readonly place: number
  readonly check: Check
  readonly pool: Pool
}

/**
 * Decides a request some of whose rules are leased. Their permits are taken first, here; then the store decides the others,
 * and where it refuses, the permits are put back for whoever asks next. Where a leased rule refuses, the others are only
 * asked how they stand. So all are charged or none.
 */
export async function decideTogether(
  checks: readonly Check[],
  until: number,
  deciders: Deciders,
): Promise<RuleDecision[]> {
  const leased: Leased[] = []
  const others: number[] = []
  for (const [place, check] of checks.entries()) {
    const pool = check.cost === 0 ? undefined : deciders.poolFor(check.rule, check.key)
    if (pool === undefined) others.push(place)
    else leased.push({ place, check, pool })
  }
  const rest = others.map((place) => checks[place] as Check)
  if (leased.length === 0) return deciders.decide(rest, 'consume')

  const outcomes = await askAll(leased, until)
  const isRefused = outcomes.some(({ batch }, i) => batch === undefined && !leased[i]?.check.rule.shadow)
  let decided: RuleDecision[] = []
  let isAdmitted = !isRefused
  if (rest.length > 0) {
    try {
      decided = isRefused ? await standing(rest, deciders) : await deciders.decide(rest, 'consume')
    } catch (error) {
      putBack(leased, outcomes)
      throw error
    }
    isAdmitted &&= passesAll(rest, decided)
  }
  if (!isAdmitted) putBack(leased, outcomes)

  const figures: RuleDecision[] = []
  for (const [i, place] of others.entries()) figures[place] = decided[i] as RuleDecision
  for (const [i, { place, pool }] of leased.entries()) {
    const { batch, figures: own } = outcomes[i] as Outcome
    const uncharged = batch !== undefined && !isAdmitted
    const told = uncharged ? pool.permits.figures(deciders.now(), batch.at) : own
    figures[place] = batch === undefined ? told : deciders.own(told)
  }
  return figures
}

/** Where one of them fails, the others are put back. */
async function askAll(leased: readonly Leased[], until: number): Promise<Outcome[]> {
  if (leased.length === 1) {
    const [{ pool, check }] = leased as [Leased]
    return [await pool.ask(check.cost, until)]
  }
  const asked = await Promise.allSettled(leased.map(({ pool, check }) => pool.ask(check.cost, until)))
  const failure = asked.find((answer) => answer.status === 'rejected')
  const outcomes = asked.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
  if (failure === undefined) return outcomes as Outcome[]
  putBack(leased, outcomes)
  throw failure.reason
}

function putBack(leased: readonly Leased[], outcomes: readonly (Outcome | undefined)[]): void {
  for (const [i, { pool, check }] of leased.entries()) {
    const batch = outcomes[i]?.batch
    if (batch !== undefined) pool.putBack(batch, check.cost)
  }
}

/** The figures of checks whose request is refused by another: those that would pass are told as they stand. */
async function standing(checks: readonly Check[], { decide }: Deciders): Promise<RuleDecision[]> {
  const [asked, idle] = await Promise.all([
    decide(checks, 'peek'),
    decide(
      checks.map((check) => ({ ...check, cost: 0 })),
      'peek',
    ),
  ])
  return asked.map((figures, i) => (figures.allowed ? (idle[i] as RuleDecision) : figures))
}
