import { admitted, type RuleDecision } from '../../decision.ts'
import type { TidegateError } from '../../errors.ts'
import type { Rule } from '../../rule.ts'
import type { Check } from '../store.ts'
import { Answers } from './answers.ts'
import { mergeAll } from './merging.ts'
import type { Pending } from './pending.ts'
import { stateFailure } from './state-error.ts'

/** What the reply to a batch leaves to do. */
export interface Settled {
  /** The time by which the batch was decided, ms since the epoch. */
  readonly time: number
  /** Requests that have no answer: the windows sent with them did not reach to that time. */
  readonly outOfRange: readonly Pending[]
}

/** Hands each request of a batch its own answer: figures, or the error that is its alone. */
export function settleBatch(batch: readonly Pending[], reply: unknown): Settled {
  const answers = new Answers(reply)
  const outOfRange: Pending[] = []
  for (const pending of batch) {
    const inRange = pending.alike === undefined ? settle(pending, answers) : settleAlike(pending, answers)
    if (inRange !== undefined) outOfRange.push(inRange)
  }
  return { time: answers.time, outOfRange }
}

/** @returns the request, where the windows sent with it did not reach to the time */
function settle(pending: Pending, answers: Answers): Pending | undefined {
  const { checks, keys, waiter } = pending
  const figures: RuleDecision[] = []
  let failure: TidegateError | undefined
  let isInRange = true
  for (let i = 0; i < checks.length; i++) {
    const { rule, cost } = checks[i] as Check
    const answer = answers.next(rule, cost)
    if (typeof answer === 'object') figures.push(answer)
    else if (answer.startsWith(OUT_OF_RANGE)) isInRange = false
    else if (failure === undefined || answer !== '') failure = stateFailure(answer, rule, keys[i] as string)
  }
  if (!isInRange) return pending
  if (failure === undefined) waiter.resolve(figures)
  else waiter.reject(failure)
  return undefined
}

/** Equal requests are answered in groups: how many, and the answer to the first of them. */
function settleAlike(first: Pending, answers: Answers): Pending | undefined {
  const { checks, keys, mode, alike = [] } = first
  const { rule, cost } = checks[0] as Check
  const requests = [first, ...alike]
  const outOfRange: Pending[] = []
  for (let done = 0; done < requests.length; ) {
    const group = requests.slice(done, done + answers.size(requests.length - done))
    done += group.length
    const answer = answers.next(rule, cost)
    if (typeof answer === 'string') {
      if (answer.startsWith(OUT_OF_RANGE)) outOfRange.push(...group)
      else for (const { waiter } of group) waiter.reject(stateFailure(answer, rule, keys[0] as string))
    } else {
      const step = answer.allowed && mode === 'consume' ? cost : 0
      for (const [i, { waiter }] of group.entries()) waiter.resolve([after(answer, rule, i * step)])
    }
  }
  return mergeAll(outOfRange)
}

/** The figures of an equal request, with so much more used before it. */
function after(figures: RuleDecision, rule: Rule, more: number): RuleDecision {
  return more === 0 ? { ...figures } : admitted(rule, figures.used + more, figures.resetAfterMs, figures.at)
}

/** How the script says that it has not been sent the window of its time. */
const OUT_OF_RANGE = 'RANGE '
