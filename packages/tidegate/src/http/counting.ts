import type { Decision } from '../decision.ts'
import type { Descriptor } from '../descriptor.ts'
import { invalid, TidegateError } from '../errors.ts'
import { frontRuleFields } from '../front-rule.ts'
import { createGate, type Gate } from '../gate.ts'
import { limitFields } from '../limit.ts'
import { createLimiter, type Limiter, type LimiterOptions } from '../limiter.ts'
import type { RefundOptions } from '../refund.ts'
import type { RequestOptions } from '../request.ts'
import type { Rule, RuleOptions } from '../rule.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { LimitsOptions } from './request-options.ts'

/** What a limiter and a gate have in common, asked with the key of the one or the descriptor of the other. */
interface Asked<Target> {
  readonly rules: readonly Rule[]
  limit(target: Target, options?: RequestOptions): Promise<Decision>
  limitSync(target: Target, options?: RequestOptions): Decision
  refund(target: Target, options?: RefundOptions): Promise<unknown>
}

/** The name of a limit that was given none. */
export const DEFAULT_NAME = 'http'

/** Whom requests are counted for, where one of several limits does not say. */
const CLIENT_KEY: readonly string[] = ['client']

/** The same for the one limit: what a limiter files its counts under, so that it and a gate count in one place. */
const LIMITER_KEY: readonly string[] = ['key']

/** The limits of an HTTP limiter, made from its options or handed in. */
export class Counting {
  /** True where a request is asked for by its dimensions, false where by its client alone. */
  readonly byDescriptor: boolean
  /** What is the same for all who count in the same place: a store, and the ids of rules in it. */
  readonly places: readonly (readonly [place: object, counter: string])[]
  readonly #asked: Asked<string | Descriptor>
  #sync = true

  /** @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE` */
  constructor(options: LimitsOptions) {
    const asked = askedOf(options)
    this.byDescriptor = asked.byDescriptor
    this.#asked = asked.of as Asked<string | Descriptor>
    const place = options.gate ?? options.store ?? this
    this.places = this.rules.map(({ id }) => [place, id] as const)
  }

  get rules(): readonly Rule[] {
    return this.#asked.rules
  }

  /** Decides one request; at once where the store is memory. */
  decide(target: string | Descriptor, cost: number): MaybePromise<Decision> {
    const options = cost === 1 ? undefined : { cost }
    if (this.#sync) {
      try {
        return this.#asked.limitSync(target, options)
      } catch (error) {
        if (!(error instanceof TidegateError) || error.code !== 'ERR_SYNC_UNSUPPORTED') throw error
        this.#sync = false
      }
    }
    return this.#asked.limit(target, options)
  }

  /** Gives back what one decision charged. */
  refund(target: string | Descriptor, decision: Decision, cost: number): Promise<unknown> {
    return this.#asked.refund(target, { decision, cost })
  }
}

/** The limits of these options as rules over the dimensions of a request; none where there are none. */
export function rulesOf(options: LimitsOptions): RuleOptions[] {
  const { limits } = checkOneForm(options)
  if (limits !== undefined) return limits.map((rule) => ({ ...rule, key: rule.key ?? [...CLIENT_KEY] }))
  const own = ownLimit(options)
  const { name = DEFAULT_NAME } = options
  return Object.keys(own).length === 0 ? [] : [{ ...own, name, key: [...LIMITER_KEY] } as unknown as RuleOptions]
}

function askedOf(options: LimitsOptions): { of: Gate; byDescriptor: true } | { of: Limiter; byDescriptor: false } {
  const { gate, limits, store, observer } = checkOneForm(options)
  const shared = { ...(store && { store }), ...(observer && { observer }) }
  if (gate !== undefined) return { of: gate, byDescriptor: true }
  if (limits !== undefined) return { of: createGate({ rules: rulesOf(options), ...shared }), byDescriptor: true }
  const name = options.name === undefined && store === undefined ? DEFAULT_NAME : options.name
  const named = name === undefined ? {} : { name }
  return {
    of: createLimiter({ ...(ownLimit(options) as unknown as LimiterOptions), ...named, ...shared }),
    byDescriptor: false,
  }
}

/** @throws TidegateError `ERR_INVALID_OPTION` where limits are given in more than one form */
function checkOneForm(options: LimitsOptions): LimitsOptions {
  const { gate, limits } = options
  const own = Object.keys(ownLimit(options))
  if (limits !== undefined && !Array.isArray(limits)) {
    throw invalid('ERR_INVALID_OPTION', 'limits', 'an array of limits', limits)
  }
  if (gate !== undefined && typeof (gate as Gate | null)?.limit !== 'function') {
    throw invalid('ERR_INVALID_OPTION', 'gate', 'a gate made by createGate', gate)
  }
  const [first] = own
  if (gate !== undefined || limits !== undefined) {
    const form = gate === undefined ? 'limits' : 'gate'
    if (first !== undefined) {
      throw invalid(
        'ERR_INVALID_OPTION',
        first,
        `none beside ${form}, which says what is limited`,
        Reflect.get(options, first),
      )
    }
    if (options.name !== undefined) throw invalid('ERR_INVALID_OPTION', 'name', `none beside ${form}`, options.name)
  }
  const beside = (['limits', 'store', 'observer'] as const).find((field) => options[field] !== undefined)
  if (gate !== undefined && beside !== undefined) {
    throw invalid('ERR_INVALID_OPTION', beside, 'none beside gate, which has its own', Reflect.get(options, beside))
  }
  return options
}

const OF_ONE_LIMIT: readonly string[] = [...limitFields, 'penalty', 'onStoreFailure', ...frontRuleFields]

/** The fields of the one limit that stand among the options. */
function ownLimit(options: LimitsOptions): Record<string, unknown> {
  const fields = Object.entries(options).filter(([name]) => OF_ONE_LIMIT.includes(name))
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}
