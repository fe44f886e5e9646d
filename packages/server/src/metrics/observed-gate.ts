import type { Gate } from 'tidegate'
import type { Metrics } from './metrics.ts'

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
  const bound = new Map<PropertyKey, unknown>(Object.entries(observed))
  return new Proxy(gate, {
    get(target, name) {
      const own = bound.get(name)
      if (own !== undefined) return own
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      // Its private fields are there for it alone.
      const method: unknown = value.bind(target)
      bound.set(name, method)
      return method
    },
  })
}
