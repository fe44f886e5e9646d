import { monotonicClock } from './clock.ts'
import type { Decision } from './decision.ts'
import { type DecisionEvent, notify, type Observer } from './observer.ts'

type Method = (...request: never[]) => Decision | Promise<Decision>

/** What decides: a limiter, or a gate. */
interface Deciding {
  limit: Method
  limitSync: Method
  acquire: Method
  reserve: Method
}

const OPERATIONS = [
  ['limit', 'limit'],
  ['limitSync', 'limit'],
  ['acquire', 'acquire'],
  ['reserve', 'reserve'],
] as const

/** Tells an observer of each decision. Where it does not listen, nothing stands in the way of a request. */
export function observeDecisions<Target extends Deciding>(target: Target, observer: Observer): Target {
  if (observer.decision === undefined) return target
  for (const [method, operation] of OPERATIONS) {
    const value = observed(target[method].bind(target) as Method, operation, observer)
    Object.defineProperty(target, method, { value, configurable: true, writable: true })
  }
  return target
}

function observed(decide: Method, operation: DecisionEvent['operation'], observer: Observer): Method {
  return (...request) => {
    const start = monotonicClock()
    const tell = (decision: Decision): Decision => {
      notify(observer, 'decision', { operation, decision, durationMs: monotonicClock() - start })
      return decision
    }
    const decided = decide(...request)
    return decided instanceof Promise ? decided.then(tell) : tell(decided)
  }
}
