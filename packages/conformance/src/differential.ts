import { isDeepStrictEqual } from 'node:util'
import { createGate, type Decision, type Gate, memoryStore, type RuleOptions } from 'tidegate'
import type { Clock, Store } from 'tidegate/store'
import { type OracleCheck, SlidingWindowOracle, type Verdict } from './oracle/sliding-window-oracle.ts'
import { moved, type Sequence, type SequenceStep } from './sequence.ts'

/** Opens a store with nothing in it that is driven by the clock. */
export type OpenStore = (clock: Clock) => Promise<Store>

/**
 * Takes one sequence through the memory store, the oracle and the other store, step by step.
 * @param count is told how many requests were admitted and refused
 * @throws Error at the first step on which two of them disagree in any field
 */
export async function compare(sequence: Sequence, open: OpenStore, count = { allowed: 0, refused: 0 }): Promise<void> {
  let now = sequence.start
  const clock = () => now
  const { rules } = sequence
  const memory = createGate({ rules, store: memoryStore({ clock }) })
  const other = createGate({ rules, store: await open(clock) })
  const oracle = new SlidingWindowOracle()
  for (const [i, step] of sequence.steps.entries()) {
    now = moved(now, step.move, rules)
    const [ours, theirs] = [await take(memory, step), await take(other, step)]
    agree(i, step, now, 'memory', ours, 'the store', theirs)
    if (ours !== undefined) count[(ours as Decision).allowed ? 'allowed' : 'refused']++
    agree(i, step, now, 'memory', figuresOf(ours), 'the oracle', ask(oracle, rules, step, now))
  }
}

async function take(gate: Gate, { op, descriptor, cost }: SequenceStep): Promise<unknown> {
  if (op === 'reset') return gate.reset(descriptor as Record<string, string>)
  const decision = await gate[op](descriptor as Record<string, string>, { cost })
  // A request that no rule matches is decided without the store.
  return decision.rule === null ? { ...decision, at: 0 } : decision
}

function agree(i: number, step: SequenceStep, now: number, a: string, left: unknown, b: string, right: unknown): void {
  if (isDeepStrictEqual(left, right)) return
  throw new Error(
    `step ${i} at ${now} (${JSON.stringify(step)}):\n${a}: ${JSON.stringify(left)}\n${b}: ${JSON.stringify(right)}`,
  )
}

function figuresOf(answer: unknown): unknown {
  if (answer === undefined) return undefined
  return (answer as Decision).rules.map(
    ({ allowed, used, retryAfterMs, resetAfterMs, at }): Verdict => ({ allowed, used, retryAfterMs, resetAfterMs, at }),
  )
}

/** The oracle's answer, with its own way of matching rules and naming counters. */
function ask(
  oracle: SlidingWindowOracle,
  rules: RuleOptions[],
  step: SequenceStep,
  now: number,
): Verdict[] | undefined {
  const { descriptor, op, cost } = step
  const of = (dimension: string) => (descriptor as Record<string, string | undefined>)[dimension]
  const matching = rules.filter(
    ({ match, key = [] }) =>
      (match?.['route'] === undefined || match['route'] === descriptor.route) &&
      key.every((one) => of(one) !== undefined),
  )
  const checks = matching.map(({ name, key = [], limit, window }): OracleCheck => {
    const counter = JSON.stringify([name, ...key.map(of)])
    return { counter, limit, windowMs: window as number, cost }
  })
  if (op !== 'reset') return oracle.decide(checks, op === 'limit' ? 'consume' : 'peek', now)
  for (const { counter } of checks) oracle.reset(counter)
  return undefined
}
