import { TidegateError } from '../errors.ts'
import type { FallbackCause } from '../observer.ts'

export function noAnswer(ms: number): TidegateError {
  return new TidegateError('ERR_STORE_UNAVAILABLE', `the store has not answered within ${ms} ms`)
}

export function notAsked(): TidegateError {
  return new TidegateError(
    'ERR_STORE_UNAVAILABLE',
    'the store is not asked, because it has failed too often: its breaker is open',
  )
}

/** Why the store did not decide; undefined where the error is the request's own. */
export function causeOf(error: unknown): FallbackCause | undefined {
  if (!(error instanceof TidegateError)) return 'error'
  if (error.code === 'ERR_STORE_OVERLOADED') return 'overload'
  return error.code === 'ERR_STORE_UNAVAILABLE' ? 'error' : undefined
}

/**
 * True where nothing speaks against the store: the request's own fault, what this process was too late to send, or an error
 * that was told of one key. A Redis whose
 * memory is full still answers, and refuses those who are over their limit.
 */
export function isAnswered(error: unknown): boolean {
  return (
    causeOf(error) === undefined ||
    (error instanceof TidegateError && / was not decided: |: it was not sent$/.test(error.message))
  )
}
