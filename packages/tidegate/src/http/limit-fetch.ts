import { type Duration, MAX_WINDOW_MS, parseDuration } from '../duration.ts'
import { invalid, TidegateError } from '../errors.ts'
import type { Limiter } from '../limiter.ts'
import { checkFields, checkInteger } from '../options.ts'
import { announcedWaitMs } from './announced-wait.ts'
import { dimensionValue } from './dimension.ts'

export interface LimitFetchOptions {
  /** What requests are counted by. Default: the host that they go to. */
  key?: (request: Request) => string
  /** How long a request may wait for its turn. Default: 30 s. */
  timeout?: Duration
  /** How often a request is made again that was answered 429 or 503 with a time to come back at. Default: 0. */
  retries?: number
}

/** What is needed of a limiter. */
export type OutgoingLimiter = Pick<Limiter, 'acquire' | 'block'>

const DEFAULT_TIMEOUT_MS = 30_000
const MOST_RETRIES = 100
const MOST_REMEMBERED = 1000

/**
 * A `fetch` that waits its turn before it asks somebody else's service: `limitFetch(fetch, limiter)`. Where an answer says
 * that nothing is left, or when to come back, the key is blocked until then, for every process that shares the store.
 *
 * Of the result: rejects as `fetch` does, with the signal's reason once that is aborted, and with TidegateError
 * `ERR_TURN_TOO_LATE` where the turn does not come in time, or as `acquire`.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function limitFetch(
  fetch: (request: Request) => Promise<Response>,
  limiter: OutgoingLimiter,
  options: LimitFetchOptions = {},
): (input: Request | URL | string, init?: RequestInit) => Promise<Response> {
  const {
    key = hostOf,
    timeout,
    retries = 0,
  } = checkFields(options, 'options', [...['key', 'timeout', 'retries']]) as LimitFetchOptions
  if (typeof fetch !== 'function') throw invalid('ERR_INVALID_OPTION', 'fetch', 'a function', fetch)
  if (typeof key !== 'function') throw invalid('ERR_INVALID_OPTION', 'key', 'a function', key)
  const timeoutMs = timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(timeout, 'timeout')
  const most = checkInteger(retries, 'retries', 0, MOST_RETRIES)
  const pauses = new Pauses(limiter)
  return async (input, init) => {
    const request = new Request(input, init)
    const counted = dimensionValue(key(request))
    for (let attempt = 0; ; attempt++) {
      const { allowed } = await limiter.acquire(counted, { timeoutMs, signal: request.signal })
      if (!allowed) throw tooLate(counted, timeoutMs)
      // A body can be read once: where the request may be made again, a copy goes out.
      const response = await fetch(attempt < most ? request.clone() : request)
      const waitMs = announcedWaitMs(response.headers, Date.now())
      if (waitMs > 0) await pauses.pause(counted, waitMs)
      const isRefused = response.status === 429 || response.status === 503
      if (!isRefused || waitMs === 0 || attempt >= most) return response
      await response.body?.cancel()
    }
  }
}

/** The times until which services have asked to be left alone. */
class Pauses {
  readonly #limiter: OutgoingLimiter
  readonly #until = new Map<string, number>()

  constructor(limiter: OutgoingLimiter) {
    this.#limiter = limiter
  }

  /** An earlier answer may have asked for longer: that holds. */
  async pause(key: string, waitMs: number): Promise<void> {
    const until = Date.now() + Math.min(waitMs, MAX_WINDOW_MS)
    if (until <= (this.#until.get(key) ?? 0)) return
    if (this.#until.size >= MOST_REMEMBERED) this.#until.clear()
    this.#until.set(key, until)
    await this.#limiter.block(key, Math.ceil(Math.min(waitMs, MAX_WINDOW_MS)))
  }
}

function hostOf({ url }: Request): string {
  return new URL(url).host
}

function tooLate(key: string, timeoutMs: number): TidegateError {
  return new TidegateError('ERR_TURN_TOO_LATE', `the turn of a request to ${key} did not come within ${timeoutMs} ms`)
}
