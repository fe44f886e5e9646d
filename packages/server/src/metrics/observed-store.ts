import { type Store, TidegateError } from 'tidegate'
import type { Metrics } from './metrics.ts'
import { observing } from './observing.ts'

/** What a store is asked on the way of a request. */
const OPERATIONS = ['decide', 'reserve', 'settle', 'refund', 'renew', 'ping'] as const

/** A store whose answers are timed, and whose errors are counted; it is the same in everything else. */
export function observedStore(store: Store, metrics: Metrics): Store {
  return observing(
    store,
    Object.fromEntries(OPERATIONS.map((operation) => [operation, timed(store, operation, metrics)])),
  )
}

function timed(store: Store, operation: (typeof OPERATIONS)[number], metrics: Metrics) {
  const ask = (store[operation] as (...given: unknown[]) => Promise<unknown>).bind(store)
  const seconds = metrics.storeSeconds.timer(operation)
  return async (...given: unknown[]): Promise<unknown> => {
    const start = performance.now()
    try {
      return await ask(...given)
    } catch (error) {
      metrics.storeErrors.inc({ code: error instanceof TidegateError ? error.code : 'ERR_INTERNAL' })
      throw error
    } finally {
      seconds.observe((performance.now() - start) / 1000)
    }
  }
}
