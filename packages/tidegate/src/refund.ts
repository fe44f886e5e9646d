import type { Admission } from './admission.ts'
import { MAX_TIME_MS } from './clock.ts'
import type { Decision, RuleDecision } from './decision.ts'
import { invalid } from './errors.ts'
import { checkFields, isRecord } from './options.ts'
import { checkCost, checkId, isId } from './request.ts'
import { hasLeases, keepsIds, type Rule } from './rule.ts'

/** What is given back. */
export interface RefundOptions {
  /** How much, as in `limit`. Default: 1. */
  cost?: number
  /** The decision that admitted it: that admission alone is given back, if it is still live. */
  decision?: Decision
  /** The same by the id of its request, for `sliding-log` and `concurrency`. */
  id?: string
}

/** A refund that has been checked. */
export interface Refund {
  readonly cost: number
  readonly decision: Decision | undefined
  readonly id: string | undefined
}

/**
 * Checks what is to be given back.
 * @throws TidegateError `ERR_INVALID_COST`, `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function refundOf(options: RefundOptions | undefined): Refund {
  const { cost = 1, decision, id } = checkFields(options ?? {}, 'options', ['cost', 'decision', 'id'])
  if (decision !== undefined && !isDecision(decision)) {
    throw invalid('ERR_INVALID_OPTION', 'decision', 'a decision of this limiter or gate', decision)
  }
  return { cost: checkCost(cost), decision, id: id === undefined ? undefined : checkId(id) }
}

/**
 * Which admission of a rule is given back: undefined for the oldest ones, `null` for none, because the decision
 * was a refusal or this rule had no part in it.
 * @throws TidegateError `ERR_INVALID_OPTION` where the rule cannot tell
 */
export function admissionOf({ decision, id }: Refund, rule: Rule): Admission | undefined | null {
  if (decision !== undefined) {
    const figures = decision.allowed ? decision.rules.find((one) => one.rule === rule.name) : undefined
    const source = decision.source === 'local' || decision.source === 'lease' ? decision.source : 'store'
    // A rule in shadow may have refused what the others admitted; an unlimited one has counted nothing.
    return figures === undefined || !figures.allowed || figures.unlimited
      ? null
      : { at: figures.at, id: id ?? decision.id ?? undefined, source, ...shardIn(figures) }
  }
  if (id !== undefined && !keepsIds(rule)) {
    const expected = `a decision, because rule ${rule.name} (${rule.algorithm}) keeps no ids`
    throw invalid('ERR_INVALID_OPTION', 'id', expected, id)
  }
  if (id !== undefined) return { at: undefined, id }
  if (!hasLeases(rule)) return undefined
  throw invalid('ERR_INVALID_OPTION', 'id', `the id of a lease, because rule ${rule.name} has several holders`, id)
}

function shardIn({ shard }: RuleDecision): { shard?: number } {
  return shard === undefined ? {} : { shard }
}

/** What a refund needs of a decision, which may come from elsewhere as JSON. */
function isDecision(value: unknown): value is Decision {
  if (!isRecord(value) || typeof value['allowed'] !== 'boolean' || !Array.isArray(value['rules'])) return false
  const id = value['id']
  return (id === undefined || id === null || isId(id)) && value['rules'].every(isFigures)
}

function isFigures(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { rule, at, shard } = value
  if (shard !== undefined && !Number.isInteger(shard)) return false
  return typeof rule === 'string' && typeof at === 'number' && Number.isInteger(at) && at >= 0 && at <= MAX_TIME_MS
}
