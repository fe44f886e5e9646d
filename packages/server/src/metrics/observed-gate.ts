import type { Gate } from 'tidegate'
import type { Metrics } from './metrics.ts'

/** A gate whose decisions are counted; it is the same in everything else. */
export function observedGate(gate: Gate, metrics: Metrics): Gate {
  const limit: Gate['limit'] = async (...request) => {
    const decision = await gate.limit(...request)
    metrics.decided(decision)
    return decision
  }
  return new Proxy(gate, {
    get(target, name) {
      if (name === 'limit') return limit
      const value: unknown = Reflect.get(target, name)
      // Its private fields are there for it alone.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
