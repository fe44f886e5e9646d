import { MAX_WINDOW_MS } from '../duration.ts'
import { invalid } from '../errors.ts'
import { checkFields, checkInteger } from '../options.ts'
import type { RequestOptions } from '../request.ts'

/** How a request waits, besides what it is. */
export interface AcquireOptions extends RequestOptions {
  /** The longest wait: whole milliseconds, from 1 to 366 days. Default: 30,000. To ask without waiting, use `limit`. */
  timeoutMs?: number
  /** Ends the wait: `acquire` rejects with the signal's reason, and nothing is charged. */
  signal?: AbortSignal
}

/** How long a request waits, checked. */
export interface Patience {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** A limiter or gate on which requests can wait. */
export interface WaitingOptions {
  /** The most requests that may wait in `acquire`, over all keys; 1 to 1,000,000. Default: 10,000. More are errors. */
  maxWaiting?: number
}

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_MAX_WAITING = 10_000

/**
 * Parts a request from how it waits.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`; the request itself is not looked at
 */
export function acquireOf(options: AcquireOptions | undefined): { request: RequestOptions; patience: Patience } {
  checkFields(options ?? {}, 'options', ['cost', 'id', 'timeoutMs', 'signal'])
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal, ...request } = options ?? {}
  checkInteger(timeoutMs, 'timeoutMs', 1, MAX_WINDOW_MS)
  if (signal !== undefined && !isSignal(signal)) {
    throw invalid('ERR_INVALID_OPTION', 'signal', 'an AbortSignal', signal)
  }
  return { request, patience: { timeoutMs, signal } }
}

/** @throws TidegateError `ERR_INVALID_OPTION` */
export function checkMaxWaiting(value: unknown = DEFAULT_MAX_WAITING): number {
  return checkInteger(value, 'maxWaiting', 1, 1_000_000)
}

/** By its shape: a signal can come from another realm. */
function isSignal(value: unknown): value is AbortSignal {
  const signal = value as Partial<AbortSignal> | null
  return typeof signal?.aborted === 'boolean' && typeof signal.addEventListener === 'function'
}
