import type { Descriptor } from '../descriptor.ts'
import { invalid, memberOf } from '../errors.ts'
import { costIn } from '../request.ts'
import type { Rule } from '../rule.ts'

/** The cost that a rule takes from the request, where it does and the request has it. */
export function ownCost({ cost }: Rule, descriptor: Descriptor): number | undefined {
  return cost === undefined ? undefined : costIn(descriptor, cost)
}

/** A cost of 0 never writes: it could not be remembered. @throws TidegateError `ERR_INVALID_COST` */
export function reservable(rule: Rule, descriptor: Descriptor, requested: number): number {
  const cost = ownCost(rule, descriptor) ?? requested
  if (cost > 0) return cost
  const expected = 'a decimal whole number from 1 to 4,294,967,295, because it is the cost of a reservation'
  throw invalid('ERR_INVALID_COST', memberOf('descriptor', rule.cost ?? 'cost'), expected, '0')
}
