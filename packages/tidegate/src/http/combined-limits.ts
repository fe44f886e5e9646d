import { TidegateError } from '../errors.ts'
import { frontRuleFields } from '../front-rule.ts'
import { limitFields } from '../limit.ts'
import { checkFields } from '../options.ts'
import type { RuleOptions } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { DEFAULT_NAME, rulesOf } from './counting.ts'
import { RequestLimit } from './request-limit.ts'
import { type LimitsOptions, limitsFields, type RequestLimitOptions, type RequestReader } from './request-options.ts'

/** A limit of one route, or several by name; they count in the store of those that all routes have. */
export type RouteLimits = Omit<LimitsOptions, 'gate' | 'store' | 'observer'>

/**
 * Limits of which each route can have its own besides those of all: what applies to a request is decided in one step, so
 * that a refusal by one charges none.
 */
export class CombinedLimits<Request, Response> {
  readonly #options: RequestLimitOptions<Request, Response>
  readonly #reader: RequestReader<Request>
  readonly #more: readonly string[]
  /** The limit of a route that has none of its own; undefined where there is none for all. */
  readonly base: RequestLimit<Request, Response> | undefined

  /** @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE` */
  constructor(
    options: RequestLimitOptions<Request, Response>,
    reader: RequestReader<Request>,
    more: readonly string[] = [],
  ) {
    this.#options = withStore(options)
    this.#reader = reader
    this.#more = more
    const isLimited = options.gate !== undefined || rulesOf(options).length > 0
    // Without limits for all the other options are checked all the same.
    const checked = new RequestLimit(isLimited ? this.#options : this.#withLimits([]), reader, more)
    this.base = isLimited ? checked : undefined
  }

  /**
   * The limit of a route that has these besides those of all. To be made once for each route.
   * @throws TidegateError where they have a mistake
   */
  combine(own: readonly RuleOptions[]): RequestLimit<Request, Response> {
    if (this.#options.gate !== undefined) {
      const expected = 'none where routes have limits of their own, which are decided in one step with those of all'
      throw new TidegateError('ERR_INVALID_OPTION', `gate: expected ${expected}`, { field: 'gate', expected })
    }
    const base = this.base === undefined ? [] : rulesOf(this.#options)
    return new RequestLimit(this.#withLimits([...base, ...own]), this.#reader, this.#more)
  }

  #withLimits(limits: readonly RuleOptions[]): RequestLimitOptions<Request, Response> {
    const others = Object.entries(this.#options).filter(
      ([field]) => !limitFields.includes(field) && !OF_LIMITS.has(field),
    )
    const { store, observer } = this.#options
    const shared = { ...(store && { store }), ...(observer && { observer }) }
    return { ...Object.fromEntries(others), limits, ...shared } as RequestLimitOptions<Request, Response>
  }
}

/** All routes count in one store, so that what all have is counted once. */
function withStore<Options extends LimitsOptions>(options: Options): Options {
  if (options.gate !== undefined || options.store !== undefined) return options
  const name = options.limits === undefined ? { name: options.name ?? DEFAULT_NAME } : {}
  return { ...options, ...name, store: memoryStore() }
}

const OF_LIMITS = new Set<string>(limitsFields)

/**
 * The limits of a route as rules.
 * @param name what they are called that have no name
 * @param key whom they count for that do not say
 */
export function routeRules(own: RouteLimits, name: string, key: readonly string[]): RuleOptions[] {
  const fields = checkFields(own, 'options', [
    ...limitFields,
    'name',
    'penalty',
    'onStoreFailure',
    ...frontRuleFields,
    'limits',
  ]) as RouteLimits
  if (fields.limits !== undefined) return fields.limits.map((rule) => ({ ...rule, key: rule.key ?? [...key] }))
  return [{ ...fields, name: fields.name ?? name, key: [...key] } as RuleOptions]
}
