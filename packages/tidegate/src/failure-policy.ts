import { invalid } from './errors.ts'

/**
 * What a rule does while its store does not answer: `deny` refuses (payments, stock), `allow` lets pass (news), `local`
 * decides in this process, by the same algorithm, with this process's share of the limit.
 */
export type FailurePolicy = 'deny' | 'allow' | 'local'

const POLICIES: readonly FailurePolicy[] = ['deny', 'allow', 'local']

/** @throws TidegateError `ERR_INVALID_OPTION` */
export function checkPolicy(value: unknown, field: string, otherwise: FailurePolicy = 'local'): FailurePolicy {
  if (value === undefined) return otherwise
  const found = POLICIES.find((policy) => policy === value)
  if (found !== undefined) return found
  throw invalid('ERR_INVALID_OPTION', field, `one of ${POLICIES.join(', ')}`, value)
}
