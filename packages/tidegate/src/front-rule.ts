import { invalid } from './errors.ts'
import type { CompiledLimit } from './limit.ts'
import { checkFlag } from './options.ts'

/** What of a rule is refused in this process, in front of a store of Redis. A memory store needs neither. */
export interface FrontRuleOptions {
  /**
   * Whether a request that Redis has just refused is refused here while it must be, for a second at most. What another
   * process gives back or resets is seen as late. Never of `concurrency`. Default: true.
   */
  deniedCache?: boolean
  /**
   * Whether this process sheds a flood: so many requests of a key are on their way to Redis, or have been admitted, that one
   * more could not be admitted beside them. Not of `concurrency`, `quota`, a calendar's windows or a rule in shadow. Default: false.
   */
  coarse?: boolean
}

/** The names of these options. */
export const frontRuleFields: readonly (keyof FrontRuleOptions)[] = ['deniedCache', 'coarse']

type Counted = Pick<CompiledLimit, 'algorithm' | 'windows'> & { readonly isShadow: boolean }

/** @throws TidegateError `ERR_INVALID_OPTION` */
export function compileFront(fields: Record<string, unknown>, prefix: string, counted: Counted) {
  const { deniedCache = true } = fields
  const coarse = checkFlag(fields['coarse'], `${prefix}coarse`)
  if (coarse) ensureShedding(`${prefix}coarse`, counted)
  return { deniedCache: checkFlag(deniedCache, `${prefix}deniedCache`), coarse }
}

/** What comes back otherwise than by time, or refuses nobody, cannot be foreseen by a bucket. */
function ensureShedding(field: string, { algorithm, windows, isShadow }: Counted): void {
  const refuse = (where: string) => invalid('ERR_INVALID_OPTION', field, `false, or none, ${where}`, true)
  if (algorithm === 'concurrency' || algorithm === 'quota') throw refuse(`with the algorithm ${algorithm}`)
  if (windows?.edges !== undefined) throw refuse('with the windows of a calendar, which are not all of a length')
  if (isShadow) throw refuse('with a rule in shadow, which refuses nobody')
}
