import type { Decision, Descriptor, Gate, RuleDecision } from 'tidegate'
import { rateLimitHeaders } from 'tidegate/http'
import type { Rule } from 'tidegate/store'
import { ServiceError } from '../errors.ts'
import { dimensionValue } from '../forward-auth/dimension-value.ts'
import { CODE, type StatusAnswer } from './protocol.ts'
import type { RateLimiting } from './rate-limiting.ts'
import { readRequest } from './read-request.ts'
import type { LimitRequest } from './request.ts'
import { unitNumberOf } from './units.ts'

/**
 * By the rules of the configuration file: the entries of all descriptors are the dimensions of one request, with the
 * domain as `domain`. The rules that match are charged together, or none is; each descriptor answers for those that its
 * own entries meet.
 */
export function ruleLimiting(gate: Gate): RateLimiting {
  return async (message) => {
    const request = readRequest(message)
    const { rules } = gate
    const { descriptor, cost, isRefund } = asOne(request)
    if (isRefund) await gate.refund(descriptor, { cost })
    const decision = await gate.limit(descriptor, { cost: isRefund ? 0 : cost })
    return {
      overallCode: decision.allowed ? CODE.OK : CODE.OVER_LIMIT,
      statuses: statusesOf(request, decision, rules),
      headers: Object.entries(rateLimitHeaders(decision, rules)),
    }
  }
}

interface AsOne {
  readonly descriptor: Descriptor
  readonly cost: number
  readonly isRefund: boolean
}

/** @throws ServiceError where the descriptors cannot be of one request */
function asOne({ domain, descriptors }: LimitRequest): AsOne {
  const dimensions: Record<string, string> = { domain: dimensionValue(domain) }
  const [first] = descriptors
  const { hits: cost = 1, isRefund = false } = first ?? {}
  for (const [i, { entries, hits, isRefund: isBack, override }] of descriptors.entries()) {
    const field = `descriptors[${i}]`
    if (override !== undefined) throw refusal(`${field}.limit`, 'none: rules have limits of their own')
    if (hits !== cost || isBack !== isRefund) {
      throw refusal(`${field}.hits_addend`, 'that of the first descriptor: rules charge a request as one')
    }
    for (const { key, value } of entries) {
      const text = value === '' ? EMPTY : dimensionValue(value)
      const there = Object.hasOwn(dimensions, key) ? dimensions[key] : undefined
      if (there !== undefined && there !== text) {
        throw refusal(`${field}.entries`, `one value of ${key} in a request: rules see all descriptors as one`)
      }
      if (key === '__proto__') throw refusal(`${field}.entries`, 'another key than __proto__')
      dimensions[key] = text
    }
  }
  return { descriptor: dimensions, cost, isRefund }
}

/** What stands for an empty value, which no dimension can have. */
const EMPTY = '-'

function statusesOf({ descriptors }: LimitRequest, decision: Decision, rules: readonly Rule[]): StatusAnswer[] {
  const byName = rulesByName(rules)
  // Rules in shadow bind nobody: no status and no header has them.
  const enforced = decision.rules.filter(({ shadow }) => shadow !== true)
  // Where there is one, it meets every rule that has decided.
  if (descriptors.length === 1) return [statusOf(enforced, byName)]
  const claimed = new Set<string>()
  const own = descriptors.map(({ entries }) => {
    const known = new Set(['domain', ...entries.map(({ key }) => key)])
    const met = enforced.filter(({ rule }) => isMetBy(byName.get(rule), known))
    for (const { rule } of met) claimed.add(rule)
    return met
  })
  // What only several descriptors meet together is the last one's to say.
  own.at(-1)?.push(...enforced.filter(({ rule }) => !claimed.has(rule)))
  return own.map((figures) => statusOf(figures, byName))
}

const named = new WeakMap<readonly Rule[], ReadonlyMap<string, Rule>>()

/** Made once for each version of the rules. */
function rulesByName(rules: readonly Rule[]): ReadonlyMap<string, Rule> {
  const there = named.get(rules)
  if (there !== undefined) return there
  const made = new Map(rules.map((rule) => [rule.name, rule]))
  named.set(rules, made)
  return made
}

function isMetBy(rule: Rule | undefined, known: ReadonlySet<string>): boolean {
  return (
    rule !== undefined && [...rule.key, ...rule.match.map(([dimension]) => dimension)].every((one) => known.has(one))
  )
}

function statusOf(all: readonly RuleDecision[], rules: ReadonlyMap<string, Rule>): StatusAnswer {
  const [first, ...rest] = all
  if (first === undefined) return { code: CODE.OK, limitRemaining: 0 }
  const { rule, allowed, limit, remaining, retryAfterMs, resetAfterMs, unlimited } = rest.reduce(tighter, first)
  if (unlimited === true) return { code: CODE.OK, limitRemaining: remaining }
  const waitMs = (allowed ? resetAfterMs : retryAfterMs) ?? 0
  return {
    code: allowed ? CODE.OK : CODE.OVER_LIMIT,
    currentLimit: { requestsPerUnit: limit, unit: unitNumberOf(rules.get(rule)?.windowMs), name: rule },
    limitRemaining: remaining,
    secondsUntilReset: Math.max(allowed ? 0 : 1, Math.ceil(waitMs / 1000)),
  }
}

/** The one that refuses longest, else the one with the smallest share left. */
function tighter(one: RuleDecision, other: RuleDecision): RuleDecision {
  if (!one.allowed || !other.allowed) return waitOf(other) > waitOf(one) ? other : one
  // What counts decides before what does not, even where nothing is used of it.
  if (other.unlimited === true) return one
  if (one.unlimited === true) return other
  return other.remaining * one.limit < one.remaining * other.limit ? other : one
}

function waitOf({ allowed, retryAfterMs }: RuleDecision): number {
  return allowed ? 0 : (retryAfterMs ?? Number.POSITIVE_INFINITY)
}

function refusal(field: string, expected: string): ServiceError {
  return new ServiceError('ERR_INVALID_BODY', `${field}: expected ${expected}`, { field, expected })
}
