import type { Store } from 'tidegate'

/** A store on the system's clock of which every operation fails with this error. */
export function failingStore(error: Error): Store {
  const fail = (): Promise<never> => Promise.reject(error)
  return {
    clock: Date.now,
    decide: fail,
    reserve: fail,
    settle: fail,
    refund: fail,
    renew: fail,
    entries: fail,
    block: fail,
    unblock: fail,
    reset: fail,
    ping: fail,
    close: async () => undefined,
  }
}
