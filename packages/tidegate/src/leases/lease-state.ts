/** Permits taken from the store and what became of them, since the store was opened. */
export interface LeaseState {
  /** Keys of which permits are held, or were a moment ago. */
  readonly keys: number
  /** Permits held now, those included that are just being given back. */
  readonly held: number
  /** How often the store was asked for permits, and has given some. */
  readonly batches: number
  readonly taken: number
  readonly used: number
  /** Given back to the store, unused. */
  readonly returned: number
  /** Ended unused: the store did not take them back, and they count until their time is over. */
  readonly expired: number
  /** Returned and expired permits among those taken that are not held any more, from 0 to 1. */
  readonly unusedShare: number
}

/** A store that leases. */
export interface LeasingStore {
  leaseState(): LeaseState
}

/** Counts permits. */
export class LeaseCounts {
  batches = 0
  taken = 0
  returned = 0
  expired = 0
  /** On their way back. */
  returning = 0

  state(keys: number, heldByPools: number): LeaseState {
    const { batches, taken, returned, expired } = this
    const held = heldByPools + this.returning
    const ended = taken - held
    const unusedShare = ended > 0 ? (returned + expired) / ended : 0
    return { keys, held, batches, taken, used: ended - returned - expired, returned, expired, unusedShare }
  }
}

/** Of a store that leases nothing. */
export const NO_LEASES: LeaseState = new LeaseCounts().state(0, 0)
