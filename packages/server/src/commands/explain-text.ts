import type { Decision, Explanation, Rule, RuleDecision } from 'tidegate'
import { conditionText } from '../http/condition-text.ts'
import { durationText } from '../http/duration-text.ts'

/** What `explain` knows of one rule. */
export type Explained = Explanation & { readonly redisKey?: string }

/** What `explain --json` prints. */
export interface Report {
  readonly version: string
  readonly rules: readonly Explained[]
  /** With `--redis` or `--server`: what would be decided now. */
  readonly decision?: Decision
}

/** A report for people: a few lines for each rule, and what would be decided. */
export function explanationText({ rules, decision, version }: Report, compiled: readonly Rule[]): string {
  const figures = new Map(decision?.rules.map((one) => [one.rule, one]))
  const lines = rules.flatMap((one, i) => linesOf(one, compiled[i] as Rule, figures.get(one.rule)))
  if (!rules.some(({ applies }) => applies)) lines.push('No rule counts this request: it is allowed.')
  if (decision === undefined) return `${lines.join('\n')}\n`
  if (decision.version !== version) {
    lines.push(`The service has other rules (version ${decision.version}) than this file (${version}).`)
    lines.push(...decision.rules.map((one) => `  ${one.rule}: ${figuresText(one)}`))
  }
  const by = decision.rule === null ? '' : `, by ${decision.rule}`
  return `${[...lines, `Now: ${decision.allowed ? 'allowed' : 'refused'}${by}.`].join('\n')}\n`
}

function linesOf(explained: Explained, rule: Rule, figures: RuleDecision | undefined): string[] {
  if (!explained.applies) return [`- ${explained.rule} does not count it: ${reasonText(explained)}`]
  const key = Object.entries(explained.key).map(([dimension, value]) => `${dimension} = ${value}`)
  return [
    `+ ${explained.rule} counts it: ${limitText(rule)}`,
    `    key: ${key.join(', ') || 'one for all requests'}`,
    ...(explained.redisKey === undefined ? [] : [`    in Redis: ${explained.redisKey}`]),
    ...(figures === undefined ? [] : [`    now: ${figuresText(figures)}`]),
  ]
}

function limitText({ limit, windowMs, algorithm }: Rule): string {
  // A quota has no window, and those of a calendar differ in length.
  const window = windowMs > 0 ? ` in ${durationText(windowMs)}` : ''
  return `${limit.toLocaleString('en-US')}${window}, by ${algorithm}`
}

function reasonText(explained: Exclude<Explained, { applies: true }>): string {
  const { dimension, wanted, found } = explained
  if (wanted === null) return `it has no ${dimension}, which is in the key`
  return `wanted ${conditionText(dimension, wanted)}, found ${found === null ? `no ${dimension}` : found}`
}

function figuresText({ allowed, reason, used, limit, retryAfterMs }: RuleDecision): string {
  const count = `${used.toLocaleString('en-US')} of ${limit.toLocaleString('en-US')} used`
  if (allowed) return `allows it, ${count}`
  const wait = retryAfterMs === null ? 'never by itself' : `in ${retryAfterMs.toLocaleString('en-US')} ms`
  return `refuses it (${reason}), ${count}; admitted ${wait}`
}
