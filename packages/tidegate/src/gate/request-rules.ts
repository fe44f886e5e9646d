import { missingDimension, type RuleDecision, unlimited } from '../decision.ts'
import { checkDescriptor, type Descriptor, keyOf } from '../descriptor.ts'
import { TidegateError } from '../errors.ts'
import type { Key } from '../key.ts'
import { RuleIndex } from '../matching/rule-index.ts'
import { costIn } from '../request.ts'
import type { Rule } from '../rule.ts'
import { GateRule } from './gate-rule.ts'

/** One counter of a rule. */
export interface Counted {
  /** The rule with the limit that the request has. */
  readonly rule: Rule
  readonly key: Key
  /** False where the rule passes such requests by, which it may not have done before. */
  readonly isCounted?: boolean
}

/** One counter that a request has to pass. */
interface Counter extends Counted {
  /** The cost that the descriptor gives for this rule; undefined: the request's. */
  readonly cost: number | undefined
}

/** A rule whose figures need no store. */
export interface Uncounted {
  /** Its place among the figures of all rules. */
  readonly place: number
  readonly rule: Rule
  /** Whether the request lacks a dimension that it must have; else it is unlimited. */
  readonly isMissing: boolean
}

/** What the rules ask of one request. */
export interface Applied {
  /** None where the request lacks a dimension that it must have: the store need not be asked. */
  readonly counters: readonly Counter[]
  readonly uncounted: readonly Uncounted[]
  /** The names of the rules that pass the request by, because it lacks a dimension. */
  readonly skipped: readonly string[]
}

/** Rules as requests meet them. */
export class RequestRules {
  readonly #index: RuleIndex<GateRule>

  constructor(rules: readonly Rule[]) {
    this.#index = new RuleIndex(rules.map((rule) => new GateRule(rule)))
  }

  /**
   * What the rules that match ask of a request, in their order.
   * @throws TidegateError `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_INVALID_LIMIT`
   */
  applied(descriptor: Descriptor): Applied {
    const counters: Counter[] = []
    // Most requests have neither.
    let [uncounted, skipped]: [Uncounted[], string[]] = [NONE, NONE]
    for (const gateRule of this.#matching(descriptor)) {
      const { rule } = gateRule
      if (gateRule.skips(descriptor)) continue
      const asked = rule.shadow ? triedOf(gateRule, descriptor) : askedOf(gateRule, descriptor)
      const { counter, limited } = asked
      if (counter !== undefined) counters.push(counter)
      else if (asked === UNREADABLE || (limited !== undefined && !rule.required)) skipped = [...skipped, rule.name]
      else {
        const place = counters.length + uncounted.length
        uncounted = [...uncounted, { place, rule: limited ?? rule, isMissing: limited !== undefined }]
      }
    }
    if (!uncounted.some(lacksDimension)) return { counters, uncounted, skipped }
    return { counters: [], uncounted: uncounted.map((one, place) => ({ ...one, place })), skipped }
  }

  /**
   * The counters of a request for whoever does something to them: also those that pass it by now, and whatever its limit
   * and its cost are. What has been counted can be given back and forgotten.
   */
  counters(descriptor: Descriptor): Counted[] {
    return this.#matching(descriptor).flatMap((gateRule) => {
      const limited = limitedOrNot(gateRule, descriptor)
      const rule = limited ?? gateRule.rule
      const key = keyOf(rule, descriptor)
      const isCounted = limited !== undefined && !gateRule.skips(descriptor)
      return key === undefined ? [] : [{ rule, key, isCounted }]
    })
  }

  #matching(descriptor: Descriptor): GateRule[] {
    checkDescriptor(descriptor)
    return this.#index.matching(descriptor)
  }
}

const NONE: never[] = []

/** What one rule asks of a request that it does not skip. */
interface AskedOfRule {
  /** The rule with the limit that the request has; undefined where it has none. */
  readonly limited: Rule | undefined
  /** Undefined where there is no limit, or the request lacks a dimension. */
  readonly counter: Counter | undefined
}

function askedOf(gateRule: GateRule, descriptor: Descriptor): AskedOfRule {
  const limited = gateRule.limited(descriptor)
  return { limited, counter: limited && counterOf(limited, descriptor) }
}

/** The same of a rule in shadow, which refuses nobody: what it cannot read, it passes by. */
function triedOf(gateRule: GateRule, descriptor: Descriptor): AskedOfRule {
  try {
    return askedOf(gateRule, descriptor)
  } catch (error) {
    if (isOfRule(error)) return UNREADABLE
    throw error
  }
}

const UNREADABLE: AskedOfRule = { limited: undefined, counter: undefined }

function counterOf(rule: Rule, descriptor: Descriptor): Counter | undefined {
  const key = keyOf(rule, descriptor)
  if (key === undefined) return undefined
  const { cost: dimension, required } = rule
  if (dimension === undefined) return { rule, key, cost: undefined }
  const cost = costIn(descriptor, dimension)
  return cost === undefined && required ? undefined : { rule, key, cost: cost ?? 1 }
}

/** The rule with the limit of this request, or with its own where that is none that it can have; undefined: without. */
function limitedOrNot(gateRule: GateRule, descriptor: Descriptor): Rule | undefined {
  try {
    return gateRule.limited(descriptor)
  } catch (error) {
    if (isOfRule(error)) return gateRule.rule
    throw error
  }
}

/** Whether something is wrong with a request for one rule alone. */
function isOfRule(error: unknown): boolean {
  return error instanceof TidegateError && (error.code === 'ERR_INVALID_COST' || error.code === 'ERR_INVALID_LIMIT')
}

/** True where the request is refused, whatever the store would say. */
function lacksDimension({ rule, isMissing }: Uncounted): boolean {
  return isMissing && !rule.shadow
}

/**
 * The figures of all rules in their order, those in shadow marked.
 * @param counted the figures of the rules that the store has decided, with those rules
 * @param at the time of the decision, ms since the epoch
 */
export function allFigures(
  counted: readonly RuleDecision[],
  rules: readonly Rule[],
  uncounted: readonly Uncounted[],
  at: number,
): RuleDecision[] {
  const all = counted.map((figures, i) => marked(figures, rules[i] as Rule))
  for (const { place, rule, isMissing } of uncounted) {
    all.splice(place, 0, marked(isMissing ? missingDimension(rule, at) : unlimited(rule, at), rule))
  }
  return all
}

function marked(figures: RuleDecision, { shadow }: Rule): RuleDecision {
  return shadow ? { ...figures, shadow } : figures
}
