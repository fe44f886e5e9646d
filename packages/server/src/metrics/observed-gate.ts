import type { Decision, Descriptor, Gate } from 'tidegate'
import { denialOf, type OnDenial } from '../events/denial.ts'
import type { Metrics } from './metrics.ts'
import { observing } from './observing.ts'

/** A gate whose decisions and settlements are counted, and whose refusals are told; it is the same in everything else. */
export function observedGate(gate: Gate, metrics: Metrics, onDenial: OnDenial = () => undefined): Gate {
  const decided = (decision: Decision, descriptor: Descriptor): Decision => {
    metrics.decided(decision)
    if (!decision.allowed) onDenial(() => denialOf(decision, descriptor, gate.rules))
    return decision
  }
  const observed: Pick<Gate, 'limit' | 'reserve' | 'settle' | 'cancel'> = {
    limit: async (...request) => decided(await gate.limit(...request), request[0]),
    reserve: async (...request) => decided(await gate.reserve(...request), request[0]),
    settle: async (...reservation) => {
      const settlement = await gate.settle(...reservation)
      metrics.settlements.inc({ operation: 'settle', settled: String(settlement.settled) })
      return settlement
    },
    cancel: async (...reservation) => {
      const settlement = await gate.cancel(...reservation)
      metrics.settlements.inc({ operation: 'cancel', settled: String(settlement.settled) })
      return settlement
    },
  }
  return observing(gate, observed)
}
