import type { LimitFunction } from '../limit-source.ts'
import { isRecord } from '../options.ts'
import type { Rule, RuleOptions } from '../rule.ts'
import { versionOf } from '../rule-version.ts'

/** What a change of rules has changed. */
export interface RuleChanges {
  /** The version of the rules now. Another one without any change below: they stand in another order. */
  readonly version: string
  /** The names of rules that were not there, in their order. */
  readonly added: readonly string[]
  /** The names of rules that are gone. */
  readonly removed: readonly string[]
  readonly changed: readonly RuleChange[]
}

/** What has changed of one rule. */
export interface RuleChange {
  readonly name: string
  /** The fields of the rule that differ, in alphabetical order. */
  readonly fields: readonly string[]
  /**
   * False where the algorithm, the window, the resolution or the key have changed: it counts anew then. Else what has been
   * counted stays, and a changed limit applies to it at once.
   */
  readonly keepsCounts: boolean
}

/** A rule, and how it was written. */
export interface Written {
  readonly rule: Rule
  readonly options: RuleOptions
}

/** Compares two sets of rules by their names. Rules that differ in spelling alone (`1m`, `60s`) have not changed. */
export function changesBetween(
  before: ReadonlyMap<string, Written>,
  after: ReadonlyMap<string, Written>,
): Omit<RuleChanges, 'version'> {
  const changed: RuleChange[] = []
  for (const [name, { rule, options }] of after) {
    const earlier = before.get(name)
    if (earlier === undefined || isSameRule(earlier, { rule, options })) continue
    changed.push({ name, fields: fieldsBetween(earlier.options, options), keepsCounts: earlier.rule.id === rule.id })
  }
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed,
  }
}

/** Plain data copied, all the way down; functions and instances of classes as they are. */
export function snapshot<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(snapshot) as Value
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, snapshot(one)])) as Value
}

/** Whether two rules decide alike, and are described alike. A limit from another function counts as another. */
function isSameRule(before: Written, after: Written): boolean {
  if (versionOf([before.rule]) !== versionOf([after.rule])) return false
  return before.rule.description === after.rule.description && functionOf(before) === functionOf(after)
}

function functionOf({ options: { limit } }: Written): LimitFunction | undefined {
  return typeof limit === 'function' ? limit : undefined
}

function fieldsBetween(before: RuleOptions, after: RuleOptions): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof RuleOptions>
  return [...names].filter((name) => !isSame(before[name], after[name])).sort()
}

function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, i) => isSame(value, other[i]))
  }
  if (!isRecord(one) || !isRecord(other)) return false
  const names = Object.keys(one)
  const isLike = names.length === Object.keys(other).length
  return isLike && names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
}
