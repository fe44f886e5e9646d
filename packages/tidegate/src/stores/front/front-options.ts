import { type Clock, checkClock } from '../../clock.ts'
import { invalid } from '../../errors.ts'
import { checkObserver, type Observer } from '../../observer.ts'
import { checkFields, checkInteger } from '../../options.ts'

/** What is answered in front of a store. */
export interface FrontOptions {
  /** Whether requests that the store has just refused are refused here, for a second at most. Default: true. */
  deniedCache?: boolean
  /** Of how many keys that is remembered, and the buckets of how many keys of `coarse` rules are kept; 2 to 8,000,000. Default: 10,000. */
  maxDeniedKeys?: number
  /** The clock that was given to the store. Default: a clock of this process that nobody sets. */
  clock?: Clock
  /** How long after it was sent a request may be decided, ms; 0 to 60,000. Default: 20, the deadline of a guarded store. */
  leadMs?: number
  /** Is told of each request that is refused here. */
  observer?: Observer
}

export interface FrontSettings {
  readonly deniedCache: boolean
  readonly maxDeniedKeys: number
  readonly clock: Clock | undefined
  readonly leadMs: number
  readonly observer: Observer
}

const FIELDS: readonly (keyof FrontOptions)[] = ['deniedCache', 'maxDeniedKeys', 'clock', 'leadMs', 'observer']

/** @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION` */
export function frontSettings(options: FrontOptions): FrontSettings {
  const fields = checkFields(options, 'options', FIELDS)
  const { deniedCache = true, maxDeniedKeys = 10_000, clock, leadMs = 20, observer } = fields
  if (typeof deniedCache !== 'boolean') {
    throw invalid('ERR_INVALID_OPTION', 'deniedCache', 'true or false', deniedCache)
  }
  return {
    deniedCache,
    maxDeniedKeys: checkInteger(maxDeniedKeys, 'maxDeniedKeys', 2, 8_000_000),
    clock: clock === undefined ? undefined : checkClock(clock),
    leadMs: checkInteger(leadMs, 'leadMs', 0, 60_000),
    observer: checkObserver(observer),
  }
}
