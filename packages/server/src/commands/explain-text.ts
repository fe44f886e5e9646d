import type { Decision, Explanation, Rule, RuleDecision } from 'tidegate'
import { conditionText } from '../text/condition-text.ts'
import { durationText } from '../text/duration-text.ts'
import { matchText } from '../text/rule-text.ts'

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
  // Of other rules they would say nothing of these.
  const own = decision?.version === version ? decision.rules : []
  const figures = new Map(own.map((one) => [one.rule, one]))
  const lines = rules.flatMap((one, i) => linesOf(one, compiled[i] as Rule, figures.get(one.rule)))
  if (!rules.some((one) => one.applies || (one.because !== 'skip' && one.refuses)))
    lines.push('No rule counts this request: it is allowed.')
  const refusing = rules.filter((one) => !one.applies && one.because !== 'skip' && one.refuses)
  if (refusing.length > 0) {
    lines.push(`So it is refused, by ${refusing.map(({ rule }) => rule).join(' and ')}; no other rule counts it.`)
  }
  if (decision === undefined) return `${lines.join('\n')}\n`
  if (decision.version !== version) {
    lines.push(`The service has other rules (version ${decision.version}) than this file (${version}).`)
    lines.push(...decision.rules.map((one) => `  ${one.rule}: ${figuresText(one)}`))
  }
  const by = decision.rule === null ? '' : `, by ${decision.rule}`
  return `${[...lines, `Now: ${decision.allowed ? 'allowed' : 'refused'}${by}.`].join('\n')}\n`
}

function linesOf(explained: Explained, rule: Rule, figures: RuleDecision | undefined): string[] {
  if (!explained.applies) {
    const refuses = explained.because !== 'skip' && explained.refuses
    return [`- ${explained.rule} ${refuses ? 'refuses it' : 'does not count it'}: ${reasonText(explained, rule)}`]
  }
  const key = Object.entries(explained.key).map(([dimension, value]) => `${dimension} = ${value}`)
  if (explained.limit === null) return [`+ ${explained.rule} lets it pass: unlimited${overrideText(explained)}`]
  const { shadow, cost } = explained
  return [
    `+ ${explained.rule} counts it${shadow ? ' in shadow, and never refuses' : ''}: ${limitText(rule, explained.limit)}${overrideText(explained)}`,
    `    key: ${key.join(', ') || 'one for all requests'}`,
    ...(cost === null ? [] : [`    cost: ${cost.toLocaleString('en-US')}, from ${rule.cost}`]),
    ...(explained.mode === undefined ? [] : [`    mode: ${explained.mode}${slackText(explained)}`]),
    ...(explained.shards === undefined ? [] : [`    shards: ${explained.shards}, each with its part of the limit`]),
    ...(explained.redisKey === undefined ? [] : [`    in Redis: ${explained.redisKey}${shardText(explained)}`]),
    ...(figures === undefined ? [] : [`    now: ${figuresText(figures)}`]),
  ]
}

function limitText({ windowMs, algorithm }: Rule, limit: number): string {
  // A quota has no window, and those of a calendar differ in length.
  const window = windowMs > 0 ? ` in ${durationText(windowMs)}` : ''
  return `${limit.toLocaleString('en-US')}${window}, by ${algorithm}`
}

function slackText({ slack }: Extract<Explained, { applies: true }>): string {
  return slack === undefined ? '' : `, up to ${(slack * 100).toLocaleString('en-US')} % more than the limit`
}

function shardText({ shards }: Extract<Explained, { applies: true }>): string {
  return shards === undefined ? '' : `, and so on to shard ${String(shards - 1).padStart(2, '0')}`
}

function overrideText({ override }: Extract<Explained, { applies: true }>): string {
  return override === null ? '' : ` (overrides[${override}])`
}

function reasonText(explained: Exclude<Explained, { applies: true }>, { key }: Rule): string {
  if (explained.because === 'skip') return `it skips ${matchText(explained.skipped)}`
  const { dimension, wanted, found } = explained
  if (wanted === null)
    return `it has no ${dimension}, which ${key.includes(dimension) ? 'is in the key' : 'gives the cost'}`
  return `wanted ${conditionText(dimension, wanted)}, found ${found === null ? `no ${dimension}` : found}`
}

function figuresText({ allowed, reason, used, limit, retryAfterMs }: RuleDecision): string {
  const count = `${used.toLocaleString('en-US')} of ${limit.toLocaleString('en-US')} used`
  if (allowed) return `allows it, ${count}`
  const wait = retryAfterMs === null ? 'never by itself' : `in ${retryAfterMs.toLocaleString('en-US')} ms`
  return `refuses it (${reason}), ${count}; admitted ${wait}`
}
