import { TidegateError } from '../../errors.ts'
import type { Pending } from './batch.ts'

/** Rejects what nobody waits for any more, before it is sent. */
export function stillWaiting(requests: readonly Pending[], now: number): Pending[] {
  const failure = unavailable(new Error('nobody waits for this any more: it was not sent'))
  return requests.filter(({ until, reject }) => {
    if (until <= now) reject(failure)
    return until > now
  })
}

/** Whatever a client rejects with, as an error of the library. */
export function unavailable(error: unknown): TidegateError {
  if (error instanceof TidegateError) return error
  const message = `Redis: ${error instanceof Error ? error.message : typeof error}`
  return new TidegateError('ERR_STORE_UNAVAILABLE', message, { cause: error })
}
