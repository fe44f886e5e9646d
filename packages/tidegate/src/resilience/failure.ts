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

const PASSING = new WeakSet<TidegateError>()

/** Marks an error that says nothing of the store: who asks again asks another part of it, which is there. */
export function passing(error: TidegateError): TidegateError {
  PASSING.add(error)
  return error
}

/**
 * True where nothing speaks against the store: the request's own fault, what this process was too late to send, or an error
 * that was told of one key. A Redis whose
 * memory is full still answers, and refuses those who are over their limit.
 */
export function isAnswered(error: unknown): boolean {
  return (
    causeOf(error) === undefined ||
    (error instanceof TidegateError && PASSING.has(error)) ||
    (error instanceof TidegateError && / was not decided: |: it was not sent$/.test(error.message))
  )
}

/** True where the store is there and lets this client do nothing: a wrong password or token, or an ACL that lacks something. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error &&
    /\b(?:NOPERM|NOAUTH|WRONGPASS|ERR_UNAUTHORIZED|ERR_FORBIDDEN)\b|ACL failure|can't run this command/.test(
      error.message,
    )
  )
}
