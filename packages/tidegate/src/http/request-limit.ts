import type { Decision } from '../decision.ts'
import type { Descriptor } from '../descriptor.ts'
import { TidegateError } from '../errors.ts'
import { ClientKeys } from './client-keys.ts'
import { Counting } from './counting.ts'
import { dimensionValue, givenKey } from './dimension.ts'
import { DoubleCounts } from './double-counts.ts'
import { rateLimitHeaders } from './headers.ts'
import { chain, isPromise, type MaybePromise } from './maybe-promise.ts'
import { type Refusal, refusalOf, unavailable } from './problem.ts'
import type { Charge, Outcome, RequestLimitOptions, RequestReader } from './request-options.ts'
import { compileSettings, type RequestSettings } from './request-settings.ts'
import { type WarnOnce, warnOnceBy } from './warnings.ts'

const PASSED: Outcome = { headers: {}, refusal: undefined, charge: undefined }

/** The errors that say that a store could not be asked; any other is a mistake, and the framework's. */
const STORE_ERRORS: readonly string[] = ['ERR_STORE_UNAVAILABLE', 'ERR_STORE_OVERLOADED']

/**
 * Limits the requests of a framework, whatever it is: request to descriptor, to decision, to headers and body. An adapter
 * gives it a reader of its requests, and does what the outcome says.
 */
export class RequestLimit<Request, Response> {
  readonly #options: RequestLimitOptions<Request, Response>
  readonly #settings: RequestSettings
  readonly #reader: RequestReader<Request>
  readonly #counting: Counting
  readonly #clients: ClientKeys<Request>
  readonly #doubleCounts: DoubleCounts
  /** Whether admitted requests may be given back, so that `settle` has to be told how they ended. */
  readonly settles: boolean

  /**
   * @param more the options that the adapter has besides; it checks them itself
   * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`
   */
  constructor(
    options: RequestLimitOptions<Request, Response>,
    reader: RequestReader<Request>,
    more: readonly string[] = [],
  ) {
    this.#settings = compileSettings(options, more)
    this.#options = options
    this.#reader = reader
    this.#counting = new Counting(options)
    const warn: WarnOnce = warnOnceBy(options.warn)
    this.#clients = new ClientKeys(reader, this.#settings, warn)
    this.#doubleCounts = new DoubleCounts(this.#counting.places, warn)
    this.settles = options.skipSuccessfulRequests === true || options.skipFailedRequests === true
  }

  /**
   * Decides one request and charges it if admitted; at once where nothing has to be waited for.
   * @throws TidegateError, or rejects, and what the functions among the options throw
   */
  check(request: Request): MaybePromise<Outcome> {
    const { skip } = this.#options
    if (skip === undefined) return this.#count(request)
    return chain(skip(request), (skipped) => (skipped ? PASSED : this.#count(request)))
  }

  /** How a request ended that had a charge: it is given back if the options say so. Never rejects. */
  async settle(request: Request, response: Response, { target, cost, decision }: Charge, ended: Ended): Promise<void> {
    const { skipSuccessfulRequests = false, skipFailedRequests = false, requestWasSuccessful } = this.#options
    try {
      const successful =
        ended.whole && (requestWasSuccessful ? await requestWasSuccessful(request, response) : ended.status < 400)
      if (successful ? skipSuccessfulRequests : skipFailedRequests) await this.#counting.refund(target, decision, cost)
    } catch {
      // The answer has been sent. What could not be given back stays charged until it has left the window.
    }
  }

  #count(request: Request): MaybePromise<Outcome> {
    this.#doubleCounts.look(this.#reader.identity(request))
    const { fixedCost } = this.#settings
    const target = this.#target(request)
    if (fixedCost !== undefined && !isPromise(target)) return this.#decide(request, target, fixedCost)
    return chain(target, (counted) => chain(this.#cost(request), (cost) => this.#decide(request, counted, cost)))
  }

  #cost(request: Request): MaybePromise<number> {
    const { cost } = this.#options
    return typeof cost === 'function' ? cost(request) : (this.#settings.fixedCost as number)
  }

  #target(request: Request): MaybePromise<string | Descriptor> {
    const { keyGenerator, descriptor } = this.#options
    const key = keyGenerator?.(request)
    if (!this.#counting.byDescriptor) {
      return chain(key, (given) => givenKey(given) ?? this.#clients.keyOf(request))
    }
    return chain(key, (given) => {
      const own = this.#descriptorOf(request, given)
      return descriptor === undefined ? own : chain(descriptor(request), (more) => ({ ...own, ...more }))
    })
  }

  #descriptorOf(request: Request, key: string | undefined): Descriptor {
    const reader = this.#reader
    const ip = this.#clients.keyOf(request)
    const method = reader.method(request)
    const client = givenKey(key) ?? ip
    const own: Record<string, string> = {
      ...reader.dimensions?.(request),
      client,
      // By this name a limiter counts.
      key: client,
      ip,
      method: method === 'HEAD' ? 'GET' : dimensionValue(method),
      route: dimensionValue(reader.route(request)),
    }
    const host = reader.header(request, 'host')
    if (host) own['host'] = dimensionValue(host)
    return own
  }

  #decide(request: Request, target: string | Descriptor, cost: number): MaybePromise<Outcome> {
    let decision: MaybePromise<Decision>
    try {
      decision = this.#counting.decide(target, cost)
    } catch (error) {
      return this.#failed(request, error)
    }
    if (!isPromise(decision)) return this.#outcome(request, decision, target, cost)
    return decision.then(
      (decided) => this.#outcome(request, decided, target, cost),
      (error: unknown) => this.#failed(request, error),
    )
  }

  #outcome(request: Request, decision: Decision, target: string | Descriptor, cost: number): Outcome {
    // A store that its own rules stand in for says so in the reason.
    if ((decision.reason as string) === 'store_unavailable') return this.#unchecked(request, decision.allowed, decision)
    const { headers: options, jitterMs } = this.#settings
    if (decision.allowed) {
      const headers = rateLimitHeaders(decision, this.#counting.rules, options)
      const charge = this.settles && cost > 0 && decision.rules.length > 0 ? { target, cost, decision } : undefined
      return { headers, refusal: undefined, charge }
    }
    const laterMs = jitterMs === 0 ? 0 : Math.floor(Math.random() * (jitterMs + 1))
    const headers = rateLimitHeaders(decision, this.#counting.rules, { ...options, laterMs })
    return this.#refuse(request, refusalOf(decision, headers, this.#reader.header(request, 'accept')))
  }

  #failed(request: Request, error: unknown): Outcome {
    const { onStoreError } = this.#settings
    const isStoreError = error instanceof TidegateError && STORE_ERRORS.includes(error.code)
    if (!isStoreError || onStoreError === 'error') throw error
    return this.#unchecked(request, onStoreError === 'allow')
  }

  /** Without limits checked there are no figures to announce, but that they were not checked. */
  #unchecked(request: Request, allowed: boolean, decision?: Decision): Outcome {
    const { bypassHeader } = this.#settings
    const headers: Record<string, string> = bypassHeader === undefined ? {} : { [bypassHeader]: 'store-unavailable' }
    if (allowed) return { headers, refusal: undefined, charge: undefined }
    return this.#refuse(request, unavailable(headers, this.#reader.header(request, 'accept'), decision))
  }

  #refuse(request: Request, refusal: Refusal): Outcome {
    this.#options.onLimited?.(request, refusal)
    return { headers: refusal.headers, refusal, charge: undefined }
  }
}

/** How the answer to a request ended. */
export interface Ended {
  /** False where the client went away before it had all of it, or the handler failed. */
  readonly whole: boolean
  readonly status: number
}
