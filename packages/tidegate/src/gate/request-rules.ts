import { missingDimension, type RuleDecision, unlimited } from '../decision.ts'
import { checkDescriptor, type Descriptor, keyOf } from '../descriptor.ts'
import type { Key } from '../key.ts'
import { RuleIndex } from '../matching/rule-index.ts'
import { costIn } from '../request.ts'
import type { Rule } from '../rule.ts'
import { GateRule } from './gate-rule.ts'

/** One counter of a rule, which a request has to pass. */
export interface Counter {
  /** The rule with the limit that the request has. */
  readonly rule: Rule
  readonly key: Key
  /** The cost that the descriptor gives for this rule; undefined: the request's. */
  readonly cost: number | undefined
}

/** A rule whose figures need no store. */
export interface Settled {
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
  readonly settled: readonly Settled[]
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
    let [settled, skipped]: [Settled[], string[]] = [NONE, NONE]
    for (const { rule, limited } of this.#matching(descriptor)) {
      const counter = limited && counterOf(limited, descriptor)
      const lacksCost = rule.required && rule.cost !== undefined && counter?.cost === undefined
      if (counter !== undefined && !lacksCost) counters.push(counter)
      else if (limited === undefined || limited.required) {
        const place = counters.length + settled.length
        settled = [...settled, { place, rule: limited ?? rule, isMissing: limited !== undefined }]
      } else skipped = [...skipped, rule.name]
    }
    if (!settled.some(lacksDimension)) return { counters, settled, skipped }
    return { counters: [], settled: settled.map((one, place) => ({ ...one, place })), skipped }
  }

  /** The counters of a request for whoever does something to them: it need not have a cost. */
  counters(descriptor: Descriptor): Counter[] {
    const found = this.#matching(descriptor).map(({ limited }) => limited && counterOf(limited, descriptor))
    return found.filter((counter) => counter !== undefined)
  }

  /** The rules that match and do not skip the request, each with the limit that it has for it; undefined for none. */
  #matching(descriptor: Descriptor): { readonly rule: Rule; readonly limited: Rule | undefined }[] {
    checkDescriptor(descriptor)
    const matching = this.#index.matching(descriptor).filter((gateRule) => !gateRule.skips(descriptor))
    return matching.map((gateRule) => ({ rule: gateRule.rule, limited: gateRule.limited(descriptor) }))
  }
}

const NONE: never[] = []

/** The counter of a rule; undefined where the request lacks a dimension of its key. */
function counterOf(rule: Rule, descriptor: Descriptor): Counter | undefined {
  const key = keyOf(rule, descriptor)
  if (key === undefined) return undefined
  const { cost: dimension, required } = rule
  if (dimension === undefined) return { rule, key, cost: undefined }
  return { rule, key, cost: costIn(descriptor, dimension) ?? (required ? undefined : 1) }
}

/** True where the request is refused, whatever the store would say. */
function lacksDimension({ rule, isMissing }: Settled): boolean {
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
  settled: readonly Settled[],
  at: number,
): RuleDecision[] {
  const all = counted.map((figures, i) => marked(figures, rules[i] as Rule))
  for (const { place, rule, isMissing } of settled) {
    all.splice(place, 0, marked(isMissing ? missingDimension(rule, at) : unlimited(rule, at), rule))
  }
  return all
}

function marked(figures: RuleDecision, { shadow }: Rule): RuleDecision {
  return shadow ? { ...figures, shadow } : figures
}
