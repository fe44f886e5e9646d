import { type Clock, checkClock, systemClock } from '../../clock.ts'
import { invalid } from '../../errors.ts'
import { checkFields, checkFlag, checkInteger } from '../../options.ts'
import { type GuardOptions, guardFields } from '../../resilience/guard-options.ts'
import type { GuardedStore } from '../../resilience/guard-state.ts'
import { guard } from '../../resilience/guarded-store.ts'
import type { Store } from '../store.ts'
import type { Fetch } from './exchange.ts'
import { Lane } from './lane.ts'
import { ServiceStore } from './service-store.ts'
import { MOST_OPERATIONS } from './wire.ts'

export interface RemoteStoreOptions extends GuardOptions {
  /**
   * The services, 1 to 16, such as `http://10.0.0.5:8080`: the first that is well is asked. Those that share their counts, over
   * one Redis, can stand in another order at each client, which spreads the load.
   */
  urls: readonly string[]
  /** The bearer token, of the scope `store` or `write`. Without one a service takes only clients of its own machine. */
  token?: string
  /**
   * Whether the store keeps requests from waiting (`deadlineMs`, `breaker`) and decides without the service when it does not
   * answer, by the `onStoreFailure` of the rules. Default: true.
   */
  guarded?: boolean
  /** How long the answer to one batch is waited for before the next replica is asked; 1 to 60,000 ms. Default: 5 x `deadlineMs`. */
  timeoutMs?: number
  /** The most operations in one batch; 1 to 1,000. Default: 500. */
  maxBatch?: number
  /** The most operations that may wait for an answer; more are errors at once. Default: 100,000. */
  maxPending?: number
  /** Whether the service counts in a Redis Cluster: decisions over several keys then say that they are compensated. Default: false. */
  cluster?: boolean
  /** Milliseconds since the epoch, of what needs no service, for tests. Default: `Date.now`; the service's store decides by its own. */
  clock?: Clock
  /** Sends requests, with the signature of `fetch`, which keeps its connections alive. Default: the global one. */
  fetch?: Fetch
}

const MOST_URLS = 16
const URL_EXPECTED = 'an http or https URL without user, query and fragment, such as http://10.0.0.5:8080'
const TOKEN = /^[A-Za-z0-9._~+/=-]{1,1024}$/
const OWN_FIELDS = ['urls', 'token', 'guarded', 'timeoutMs', 'maxBatch', 'maxPending', 'cluster', 'clock', 'fetch']

/**
 * Counts in a Tidegate service (`tidegate serve`), or in one of several. The operations of one turn of the event loop travel
 * in one request. Nothing is charged twice: what a service may have done is not asked of another.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function remoteStore(options: RemoteStoreOptions & { guarded: false }): Store
export function remoteStore(options: RemoteStoreOptions): GuardedStore
export function remoteStore(options: RemoteStoreOptions): Store {
  const fields = checkFields(options, 'options', [...OWN_FIELDS, ...guardFields])
  const { guarded = true, maxBatch = 500, maxPending = 100_000, deadlineMs = 20, clock, token } = fields
  if (typeof guarded !== 'boolean') throw invalid('ERR_INVALID_OPTION', 'guarded', 'true or false', guarded)
  const { timeoutMs = 5 * checkInteger(deadlineMs, 'deadlineMs', 1, 60_000) } = fields
  const lane = new Lane({
    urls: urlsOf(fields['urls']),
    token: token === undefined ? undefined : tokenOf(token),
    timeoutMs: checkInteger(timeoutMs, 'timeoutMs', 1, 300_000),
    maxBatch: checkInteger(maxBatch, 'maxBatch', 1, MOST_OPERATIONS),
    maxPending: checkInteger(maxPending, 'maxPending', 1, 10_000_000),
    fetch: fetchOf(fields['fetch']),
  })
  const store = new ServiceStore(lane, {
    clock: clock === undefined ? systemClock : checkClock(clock),
    cluster: checkFlag(fields['cluster'], 'cluster'),
  })
  const guardOptions = Object.fromEntries(guardFields.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])))
  return guarded ? guard(store, guardOptions) : store
}

function urlsOf(value: unknown): string[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > MOST_URLS) {
    throw invalid('ERR_INVALID_OPTION', 'urls', `a list of 1 to ${MOST_URLS} URLs`, value)
  }
  return value.map((url: unknown, i) => urlOf(url, `urls[${i}]`))
}

function urlOf(value: unknown, field: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol)) {
    // What may hold a password is not repeated.
    throw invalid('ERR_INVALID_OPTION', field, URL_EXPECTED, url === undefined ? value : `another ${url.protocol} URL`)
  }
  return url.href.replace(/\/+$/, '')
}

function tokenOf(value: unknown): string {
  if (typeof value === 'string' && TOKEN.test(value)) return value
  throw invalid(
    'ERR_INVALID_OPTION',
    'token',
    'letters, digits or ._~+/=-',
    typeof value === 'string' ? 'another' : value,
  )
}

function fetchOf(value: unknown): Fetch {
  if (value === undefined) return (url, init) => fetch(url, init)
  if (typeof value === 'function') return value as Fetch
  throw invalid('ERR_INVALID_OPTION', 'fetch', 'a function like fetch', value)
}
