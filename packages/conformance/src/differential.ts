import { isDeepStrictEqual } from 'node:util'
import { createGate, type Decision, type Gate, type GateSettlement, memoryStore } from 'tidegate'
import type { Clock, Store } from 'tidegate/store'
import type { LimitedRule, Verdict } from './oracle/counter.ts'
import { type OracleCheck, RequestOracle } from './oracle/request-oracle.ts'
import { moved, type Sequence, type SequenceStep } from './sequence.ts'

/** Opens a store with nothing in it that is driven by the clock. */
export type OpenStore = (clock: Clock) => Promise<Store>

/** How many requests came to what, so that a test can tell whether it has seen everything. */
export interface Tally {
  steps: number
  allowed: number
  refused: number
  /** Reservations settled above what was reserved, and below; and settled in vain. */
  charged?: number
  refunded?: number
  unsettled?: number
}

/**
 * Takes one sequence through the memory store, the oracle and the other store, step by step.
 * @param count is told how many steps were compared, and how many requests came to what
 * @param isForOracle false where the rules have what the oracle knows nothing of: then the two stores alone are compared
 * @throws Error at the first step on which two of them disagree in any field
 */
export async function compare(
  sequence: Sequence,
  open: OpenStore,
  count: Tally = { steps: 0, allowed: 0, refused: 0 },
  isForOracle = true,
): Promise<void> {
  let now = sequence.start
  const clock = () => now
  const { rules } = sequence
  const memory = createGate({ rules, store: memoryStore({ clock }) })
  const other = createGate({ rules, store: await open(clock) })
  const oracle = new RequestOracle()
  const past = new Map<string, Decision[]>()
  for (const [i, step] of sequence.steps.entries()) {
    now = moved(now, step.move, rules)
    const matching = checksOf(rules, step)
    if (isIdle(step, matching)) continue
    count.steps++
    const decisions = past.get(JSON.stringify(step.descriptor)) ?? []
    const [ours, theirs] = [await take(memory, step, matching, decisions), await take(other, step, matching, decisions)]
    agree(i, step, now, 'memory', withoutAtomicity(ours), 'the store', withoutAtomicity(theirs))
    if (isForOracle) {
      const expected = ask(oracle, matching, step, decisions, now)
      agree(i, step, now, 'memory', isDecision(ours) ? figuresOf(ours) : ours, 'the oracle', expected)
    }
    if (isSettlement(ours)) tally(count, ours)
    if (!isDecision(ours)) continue
    count[ours.allowed ? 'allowed' : 'refused']++
    if (step.op !== 'peek') past.set(JSON.stringify(step.descriptor), [ours, ...decisions].slice(0, 6))
  }
}

/** True where the step asks for what none of the rules has. */
function isIdle({ op }: SequenceStep, matching: readonly OracleCheck[]): boolean {
  if (op === 'limit' || op === 'peek' || op === 'reserve' || op === 'reset') return false
  if (op === 'refund') return matching.some(({ rule }) => isConcurrency(rule))
  if (op === 'renew' || op === 'release') return !matching.some(({ rule }) => isConcurrency(rule))
  return matching.length === 0
}

async function take(
  gate: Gate,
  step: SequenceStep,
  matching: readonly OracleCheck[],
  past: Decision[],
): Promise<unknown> {
  const { op, cost, id, duration, expiresIn } = step
  const descriptor = step.descriptor as Record<string, string>
  const rule = one(matching, step)?.rule.name as string
  if (op === 'reset') return gate.reset(descriptor)
  if (op === 'block') return gate.block(descriptor, duration, { rule })
  if (op === 'unblock') return gate.unblock(descriptor, { rule })
  if (op === 'renew') return gate.renew(descriptor, id)
  if (op === 'release') return gate.release(descriptor, id)
  if (op === 'entries') return lists(one(matching, step)) ? gate.entries(descriptor, { rule }) : []
  if (op === 'refund') {
    const decision = step.of === undefined ? undefined : past[step.of]
    return [...(await gate.refund(descriptor, { cost, ...(decision && { decision }) }))]
  }
  if (op === 'settle') return gate.settle(descriptor, id, { cost }).catch(codeOf)
  if (op === 'reserve') {
    return gate.reserve(descriptor, { cost: Math.max(1, cost), id, expiresIn }).then(withoutTimeOfNone, codeOf)
  }
  return withoutTimeOfNone(await gate[op](descriptor, { cost, id }))
}

/** A request that no rule matches is decided without the store. */
function withoutTimeOfNone(decision: Decision): Decision {
  return decision.rule === null ? { ...decision, at: 0 } : decision
}

function codeOf({ code }: { code: string }) {
  return { error: code }
}

/** The oracle's answer, with its own way of matching rules and naming counters. */
function ask(
  oracle: RequestOracle,
  matching: readonly OracleCheck[],
  step: SequenceStep,
  past: Decision[],
  now: number,
): unknown {
  const { op, cost, id, duration, expiresIn } = step
  const meant = one(matching, step)
  if (op === 'limit' || op === 'peek')
    return oracle.decide(matching, op === 'limit' ? 'consume' : 'peek', cost, now, id)
  if (op === 'reserve' && matching.some((check) => check.cost === 0)) return { error: 'ERR_INVALID_COST' }
  if (op === 'reserve') {
    // Without the dimension that a rule takes its cost from, it is that of the reservation.
    const reserving = 'weight' in step.descriptor ? matching : matching.map(({ cost: _, ...check }) => check)
    return oracle.reserve(reserving, Math.max(1, cost), now, id, expiresIn)
  }
  if (op === 'settle') return settle(oracle, matching, step, now)
  if (op === 'refund') {
    const decision = step.of === undefined ? undefined : past[step.of]
    return matching.map((check) => [check.rule.name, refund(oracle, check, cost, decision, now)])
  }
  if (op === 'block')
    return oracle.of(meant as OracleCheck).block(duration === 'forever' ? Number.POSITIVE_INFINITY : duration, now)
  if (op === 'unblock') return oracle.of(meant as OracleCheck).unblock(now)
  if (op === 'entries') return lists(meant) ? oracle.of(meant as OracleCheck).entries(now) : []
  const leases = matching.filter(({ rule }) => isConcurrency(rule))
  if (op === 'renew') return leases.map((check) => oracle.of(check).renew(id, now)).every(Boolean)
  if (op === 'release') {
    return leases.map((check) => oracle.refund(check, 2 ** 32, now, { at: undefined, id })).some((given) => given > 0)
  }
  for (const check of matching) oracle.reset(check)
  return undefined
}

function refund(oracle: RequestOracle, check: OracleCheck, cost: number, decision: Decision | undefined, now: number) {
  const whole = check.cost ?? cost
  if (decision === undefined) return oracle.refund(check, whole, now, undefined)
  const figures = decision.allowed ? decision.rules.find(({ rule }) => rule === check.rule.name) : undefined
  return !figures?.allowed ? 0 : oracle.refund(check, whole, now, { at: figures.at, id: decision.id ?? undefined })
}

function settle(oracle: RequestOracle, matching: readonly OracleCheck[], step: SequenceStep, now: number) {
  const isWeighed = 'weight' in step.descriptor
  const rules = matching.map((check) => {
    const cost = isWeighed ? (check.cost ?? step.cost) : step.cost
    return { rule: check.rule.name, ...oracle.settle(check, cost, now, step.id) }
  })
  if (rules.some((rule) => 'error' in rule)) return { error: 'ERR_INVALID_COST' }
  return { settled: rules.some((rule) => 'settled' in rule && rule.settled), rules }
}

function checksOf(rules: readonly LimitedRule[], { descriptor }: SequenceStep): OracleCheck[] {
  const of = (dimension: string) => (descriptor as Record<string, string | undefined>)[dimension]
  return rules
    .filter(({ match }) => match?.['route'] === undefined || match['route'] === descriptor.route)
    .filter(({ key = [] }) => key.every((dimension) => of(dimension) !== undefined))
    .map((rule) => {
      const counter = JSON.stringify([rule.name, ...(rule.key ?? []).map(of)])
      return { rule, counter, cost: rule.cost === undefined ? undefined : Number(of(rule.cost) ?? 1) }
    })
}

function one(matching: readonly OracleCheck[], { rule }: SequenceStep): OracleCheck | undefined {
  return matching[rule % matching.length]
}

function isConcurrency({ algorithm }: { readonly algorithm?: string }): boolean {
  return algorithm === 'concurrency'
}

function lists(check: OracleCheck | undefined): boolean {
  const algorithm: string | undefined = check?.rule.algorithm
  return algorithm === 'concurrency' || algorithm === 'sliding-log'
}

function agree(i: number, step: SequenceStep, now: number, a: string, left: unknown, b: string, right: unknown): void {
  if (isDeepStrictEqual(left, right)) return
  throw new Error(
    `step ${i} at ${now} (${JSON.stringify(step)}):\n${a}: ${JSON.stringify(left)}\n${b}: ${JSON.stringify(right)}`,
  )
}

function isDecision(answer: unknown): answer is Decision {
  return typeof answer === 'object' && answer !== null && 'allowed' in answer
}

function isSettlement(answer: unknown): answer is GateSettlement {
  return typeof answer === 'object' && answer !== null && 'settled' in answer
}

function tally(count: Tally, { rules }: GateSettlement): void {
  for (const { settled, charged, refunded } of rules) {
    if (charged > 0) count.charged = (count.charged ?? 0) + 1
    if (refunded > 0) count.refunded = (count.refunded ?? 0) + 1
    if (!settled) count.unsettled = (count.unsettled ?? 0) + 1
  }
}

/** How a request is taken apart in a cluster is the store's own affair. */
function withoutAtomicity(answer: unknown): unknown {
  return isDecision(answer) ? { ...answer, atomicity: undefined } : answer
}

function figuresOf({ rules }: Decision): Verdict[] {
  return rules.map(({ allowed, used, retryAfterMs, resetAfterMs, at, reason }): Verdict => {
    return { allowed, used, retryAfterMs, resetAfterMs, at, reason }
  })
}
