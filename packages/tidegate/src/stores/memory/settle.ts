import { UNTOUCHED } from '../../algorithms/algorithm.ts'
import { MAX_COUNT } from '../../decision.ts'
import { excessTooLarge, type Settlement, UNSETTLED } from '../../reservation.ts'
import type { Rule } from '../../rule.ts'
import type { Kept } from './eviction.ts'
import type { KeyedStates } from './keyed-states.ts'
import type { Reservation } from './reservations.ts'
import { blockName, type Table } from './table.ts'

/**
 * Ends a reservation with its actual cost; twin of settle.lua.
 * @throws TidegateError `ERR_INVALID_COST`, with nothing done
 */
export function settle(
  keys: KeyedStates,
  table: Table,
  rule: Rule,
  name: string,
  id: string,
  cost: number,
  clock: number,
): Settlement {
  const { reservations } = keys
  const reservation = reservations.find(blockName(rule, name), id, clock)
  if (reservation === undefined) return UNSETTLED
  const difference = differenceOf(table, name, rule, id, reservation, cost, clock)
  if (difference > 0) chargeMore(keys, table, name, rule, id, difference, cost, clock)
  const of = { at: reservation.at, id }
  const refunded = difference < 0 ? keys.refund(table, name, rule, -difference, clock, of) : 0
  reservations.delete(blockName(rule, name), id)
  return { settled: true, charged: Math.max(0, difference), refunded }
}

/** By how much an actual cost is above what was reserved or, of a lease, above what it costs by now. */
function differenceOf(
  { algorithm, states }: Table,
  name: string,
  rule: Rule,
  id: string,
  reservation: Reservation,
  cost: number,
  clock: number,
): number {
  if (algorithm.leased === undefined) return cost - reservation.cost
  // A lease that has ended has nothing to give back, and nothing is added to it.
  return cost - (algorithm.leased(states.get(name) ?? UNTOUCHED, rule, id, clock) ?? cost)
}

/** Charges an excess past the limit: all that bounds it is what can be counted. */
function chargeMore(
  keys: KeyedStates,
  table: Table,
  name: string,
  rule: Rule,
  id: string,
  excess: number,
  cost: number,
  clock: number,
): void {
  const { algorithm, states } = table
  const state = states.get(name) ?? UNTOUCHED
  const figures = algorithm.evaluate(state, { ...rule, limit: MAX_COUNT }, excess, clock)
  if (!figures.allowed) throw excessTooLarge(rule.name, cost)
  if (algorithm.raise !== undefined) algorithm.raise(state, rule, excess, clock, id)
  else {
    if (state === UNTOUCHED) keys.makeRoom(1, clock, NONE)
    keys.commit(table, name, state, rule, figures, excess, id)
  }
}

const NONE: Kept = []
