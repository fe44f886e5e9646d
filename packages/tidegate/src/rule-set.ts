import { missingDimension, type RuleDecision, unlimited } from './decision.ts'
import { checkDescriptor, type Descriptor, keyOf } from './descriptor.ts'
import { GateRule } from './gate-rule.ts'
import type { Key } from './key.ts'
import { RuleIndex } from './matching/rule-index.ts'
import { costIn } from './request.ts'
import type { Rule } from './rule.ts'

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
  readonly counters: readonly Counter[]
  readonly settled: readonly Settled[]
  /** The names of the rules that pass the request by, because it lacks a dimension. */
  readonly skipped: readonly string[]
}

/** The rules of a gate, as requests meet them. */
export class RuleSet {
  readonly #index: RuleIndex<GateRule>

  constructor(rules: readonly Rule[]) {
    this.#index = new RuleIndex(rules.map((rule) => new GateRule(rule)))
  }

  /**
   * What the rules that match ask of a request, in their order.
   * @throws TidegateError `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_INVALID_LIMIT`
   */
  applied(descriptor: Descriptor): Applied {
    checkDescriptor(descriptor)
    const counters: Counter[] = []
    // Most requests have neither.
    let [settled, skipped]: [Settled[], string[]] = [NONE, NONE]
    for (const gateRule of this.#index.matching(descriptor)) {
      if (gateRule.skips(descriptor)) continue
      const rule = gateRule.limited(descriptor)
      const counter = rule === undefined ? undefined : counterOf(rule, descriptor)
      if (counter !== undefined) counters.push(counter)
      else if (rule === undefined || rule.required) {
        const place = counters.length + settled.length
        settled = [...settled, { place, rule: rule ?? gateRule.rule, isMissing: rule !== undefined }]
      } else skipped = [...skipped, rule.name]
    }
    return { counters, settled, skipped }
  }
}

const NONE: never[] = []

/** The counter of a rule that a request has to pass; undefined where it lacks a dimension of it. */
function counterOf(rule: Rule, descriptor: Descriptor): Counter | undefined {
  const key = keyOf(rule, descriptor)
  if (key === undefined) return undefined
  if (rule.cost === undefined) return { rule, key, cost: undefined }
  const cost = costIn(descriptor, rule.cost)
  return cost === undefined && rule.required ? undefined : { rule, key, cost: cost ?? 1 }
}

/** True where the request is refused whatever the store says: it need not be asked. */
export function lacksDimension({ settled }: Pick<Applied, 'settled'>): boolean {
  return settled.some(({ rule, isMissing }) => isMissing && !rule.shadow)
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
