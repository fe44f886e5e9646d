import type { Gate } from 'tidegate'
import type { Metrics } from './metrics.ts'
import { observing } from './observing.ts'

/** A gate whose decisions and settlements are counted; it is the same in everything else. */
export function observedGate(gate: Gate, metrics: Metrics): Gate {
  const observed: Pick<Gate, 'limit' | 'reserve' | 'settle' | 'cancel'> = {
    limit: async (...request) => {
      const decision = await gate.limit(...request)
      metrics.decided(decision)
      return decision
    },
    reserve: async (...request) => {
      const decision = await gate.reserve(...request)
      metrics.decided(decision)
      return decision
    },
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
