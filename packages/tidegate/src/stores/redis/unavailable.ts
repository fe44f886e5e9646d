import { TidegateError } from '../../errors.ts'
import { mergeAll } from './merging.ts'
import type { Pending } from './pending.ts'

/** Rejects what nobody waits for any more, before it is sent. */
export function stillWaiting(requests: readonly Pending[], now: number): Pending[] {
  const failure = unavailable(new Error('nobody waits for this any more: it was not sent'))
  return requests.flatMap((pending) => {
    const { alike = [] } = pending
    const inTime: Pending[] = []
    for (const request of [pending, ...alike]) {
      if (request.until > now) inTime.push(request)
      else request.waiter.reject(failure)
    }
    return mergeAll(inTime) ?? []
  })
}

/** Whatever a client rejects with, as an error of the library. */
export function unavailable(error: unknown): TidegateError {
  if (error instanceof TidegateError) return error
  const message = `Redis: ${error instanceof Error ? error.message : typeof error}`
  return new TidegateError('ERR_STORE_UNAVAILABLE', message, { cause: error })
}
