import { MAX_COUNT } from './decision.ts'
import { type Duration, parseDuration } from './duration.ts'
import { invalid } from './errors.ts'
import { checkFields } from './options.ts'
import { checkCost, requestIdOf } from './request.ts'

/** What is reserved of a limit before its cost is known. */
export interface ReserveOptions {
  /** What is charged until the actual cost is known: a whole number from 1 to 4,294,967,295. */
  cost: number
  /**
   * Names the reservation: 1 to 256 characters. Reserving with the id of a live one changes nothing and is charged
   * nothing, so that a request can be sent again. Of `concurrency` it names the lease too. Default: a random one.
   */
  id?: string
  /** How long it can be settled: from 1 ms to 366 days; after that it stays charged as reserved. Default: 10 minutes. */
  expiresIn?: Duration
}

/** What a reservation has come to. */
export interface SettleOptions {
  /** The actual cost: a whole number from 0 to 4,294,967,295. */
  cost: number
}

/** What settling has done to one limit. */
export interface Settlement {
  /** False where there is no such reservation, or it has expired or been settled before: nothing has changed then. */
  readonly settled: boolean
  /** What was charged besides what was reserved. */
  readonly charged: number
  /** What was given back, of what still counted. */
  readonly refunded: number
}

/** What settling has done to the limits of one request. */
export interface GateSettlement {
  /** Whether any of them was settled. */
  readonly settled: boolean
  /** Each matching rule's own, in the order of the rules. */
  readonly rules: readonly ({ readonly rule: string } & Settlement)[]
}

/** What settling a reservation does that is not there. */
export const UNSETTLED: Settlement = { settled: false, charged: 0, refunded: 0 }

/** A reservation that has been checked. */
export interface ReservationRequest {
  readonly cost: number
  readonly id: string
  readonly expiresInMs: number
}

const DEFAULT_EXPIRES_IN = '10m'

/**
 * Checks what is to be reserved.
 * @throws TidegateError `ERR_INVALID_COST`, `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function reservationOf(options: ReserveOptions): ReservationRequest {
  const { cost, id, expiresIn = DEFAULT_EXPIRES_IN } = checkFields(options, 'options', ['cost', 'id', 'expiresIn'])
  // A cost of 0 never writes: it could not be remembered, and nothing could refuse it.
  if (cost === 0) throw invalid('ERR_INVALID_COST', 'cost', 'a whole number from 1 to 4,294,967,295', cost)
  return {
    cost: checkCost(cost),
    id: requestIdOf(id === undefined ? undefined : { id: id as string }),
    expiresInMs: parseDuration(expiresIn, 'expiresIn'),
  }
}

/**
 * Checks what a reservation has come to.
 * @throws TidegateError `ERR_INVALID_COST`, `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function actualCostOf(options: SettleOptions): number {
  return checkCost(checkFields(options, 'options', ['cost'])['cost'])
}

/** The error of an excess with which a key would have used more than can be counted. */
export function excessTooLarge(rule: string, cost: number) {
  const expected = `a cost with which the key of rule ${rule} has used at most ${MAX_COUNT.toLocaleString('en-US')}`
  return invalid('ERR_INVALID_COST', 'cost', expected, cost)
}
