import type { Decision } from '../decision.ts'
import type { Descriptor } from '../descriptor.ts'
import type { Duration } from '../duration.ts'
import type { FailurePolicy } from '../failure-policy.ts'
import type { FrontRuleOptions } from '../front-rule.ts'
import type { Gate } from '../gate.ts'
import type { LimitOptions } from '../limit.ts'
import type { Observer } from '../observer.ts'
import type { PenaltyOptions } from '../penalty.ts'
import type { RuleOptions } from '../rule.ts'
import type { Store } from '../stores/store.ts'
import type { LegacyHeaders, StandardHeaders } from './headers.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Refusal } from './problem.ts'
import type { TrustProxy } from './trust.ts'
import type { Warn } from './warnings.ts'

/** What is limited: one limit by its own fields, several in `limits`, or a `gate` that there is. */
export interface LimitsOptions extends Partial<LimitOptions>, PenaltyOptions, FrontRuleOptions {
  /** The name of the one limit: in keys and headers. Required where `store` is given. Default: `http`. */
  name?: string
  /**
   * Several limits, of which a request passes all or is charged by none, in one step. Each is a rule over the dimensions
   * `client` (what `keyGenerator` gives), `ip`, `method` (HEAD counts as GET), `route` (the pattern where the framework
   * knows it, else the path), `host`, and those that `descriptor` adds. Its `key` is `['client']` unless it names another.
   */
  limits?: readonly RuleOptions[]
  /** A gate that there is, over the same dimensions. It stays open. */
  gate?: Gate
  /** Default: a memory store of the limiter's own. */
  store?: Store
  /**
   * While a store of Redis does not answer: `local` counts in this process, with its share of the limit, `deny` answers 503,
   * `allow` lets the request pass uncounted. Default: `local`.
   */
  onStoreFailure?: FailurePolicy
  /** Is told of each decision, for metrics; a `gate` has its own. */
  observer?: Observer
}

/** How requests are limited, in the words of express-rate-limit where it has them. */
export interface RequestLimitOptions<Request, Response> extends LimitsOptions {
  /** Whom a request is counted for. `undefined` or `''`: the client's address. Default: that, and of IPv6 its network. */
  keyGenerator?: (request: Request) => MaybePromise<string | undefined>
  /** More dimensions, for `limits` and `gate`. */
  descriptor?: (request: Request) => MaybePromise<Descriptor>
  /** True for a request that is not limited at all. */
  skip?: (request: Request) => MaybePromise<boolean>
  /** What a request costs, a whole number from 0. Default: 1. */
  cost?: number | ((request: Request) => MaybePromise<number>)
  /** Requests that succeeded are given back when they have been answered. Default: `false`. */
  skipSuccessfulRequests?: boolean
  /** Requests that failed, or whose client went away before it had the answer, are given back. Default: `false`. */
  skipFailedRequests?: boolean
  /** Default: a status below 400. */
  requestWasSuccessful?: (request: Request, response: Response) => MaybePromise<boolean>
  /** Called with each refusal before it is sent. */
  onLimited?: (request: Request, refusal: Refusal) => void
  /** Default: `draft-8`. `false`: none. */
  standardHeaders?: StandardHeaders | false
  /** `X-RateLimit-*` besides, the reset in seconds since the epoch or from now; `true` is `epoch`. Default: `false`. */
  legacyHeaders?: LegacyHeaders | boolean
  /** A refusal announces a wait that is longer by a random part of this, so that clients do not come back together. Default: none. */
  jitter?: Duration
  /**
   * What happens where a store throws, which is guarded by nothing (see `onStoreFailure`): `deny` answers 503, `allow` lets the
   * request pass uncounted, `error` hands the error to the framework. Default: `deny`.
   */
  onStoreError?: 'deny' | 'allow' | 'error'
  /** A header that marks an answer whose limits could not be checked, its value `store-unavailable`. Default: none. */
  bypassHeader?: string
  /** Which proxies are believed when they name the client. Default: none, or what the framework itself was told. */
  trustProxy?: TrustProxy
  /** The bits of an IPv6 address that are one client, 1 to 128. Default: 64. */
  ipv6Prefix?: number
  /** Who is told of likely mistakes; `false`: nobody. Default: `process.emitWarning`. */
  warn?: Warn
}

/** The fields that say what is limited. */
export const limitsFields = [
  'name',
  'limits',
  'gate',
  'store',
  'penalty',
  'onStoreFailure',
  'deniedCache',
  'coarse',
  'observer',
] as const

/** The other fields of `RequestLimitOptions`. */
export const requestFields = [
  'keyGenerator',
  'descriptor',
  'skip',
  'cost',
  'skipSuccessfulRequests',
  'skipFailedRequests',
  'requestWasSuccessful',
  'onLimited',
  'standardHeaders',
  'legacyHeaders',
  'jitter',
  'onStoreError',
  'bypassHeader',
  'trustProxy',
  'ipv6Prefix',
  'warn',
] as const

/** What a framework's request says of itself. */
export interface RequestReader<Request> {
  /** The address of the other end of the connection; undefined on a Unix socket. */
  peer(request: Request): string | undefined
  /** The address of the client, where the framework was told which proxies to believe. */
  ip?(request: Request): string | undefined
  /** Whether it was told to believe everybody. */
  believesEverybody?(request: Request): boolean
  /** A header by its name in lower case. Several values: joined by commas. */
  header(request: Request, name: string): string | undefined
  method(request: Request): string
  /** The pattern that the request matched, or its path without the query. */
  route(request: Request): string
  /** Dimensions that only this framework has. */
  dimensions?(request: Request): Descriptor
  /** What is the same for all who see this request. */
  identity(request: Request): object
  /** Where a client without an address is a mistake, because the runtime tells it in some other way. */
  readonly expectsAddress?: boolean
}

/** An admission that may be given back once the answer is known. */
export interface Charge {
  readonly target: string | Descriptor
  readonly cost: number
  readonly decision: Decision
}

/** What becomes of a request. */
export interface Outcome {
  /** The headers of the answer, whatever it is; on a refusal the refusal has them. */
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: the request passes. */
  readonly refusal: Refusal | undefined
  /** Undefined: there is nothing to settle. */
  readonly charge: Charge | undefined
}
