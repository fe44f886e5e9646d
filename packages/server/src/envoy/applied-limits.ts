import { compileRule, isKey, type Rule } from 'tidegate/store'
import { hashed } from '../forward-auth/dimension-value.ts'
import { type Entry, findLimit } from './find-limit.ts'
import type { TreeLimit, TreeNode } from './limit-tree.ts'
import type { LimitRequest, RequestDescriptor } from './request.ts'
import { type Unit, unitNames, unitNumbered, units } from './units.ts'

/** What becomes of a descriptor: no limit, one without bounds, or one that counts. */
export type Applied = { readonly kind: 'none' } | { readonly kind: 'unlimited'; readonly metric: string } | AppliedLimit

export interface AppliedLimit {
  readonly kind: 'counted'
  readonly rule: Rule
  readonly key: readonly string[]
  readonly requestsPerUnit: number
  readonly unit: Unit | undefined
  readonly name: string
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly metric: string
}

/** The limits of a request's descriptors, in their order, without those that others replace. */
export function appliedLimits(root: TreeNode | undefined, { domain, descriptors }: LimitRequest): Applied[] {
  if (root === undefined) return descriptors.map(() => NONE)
  const found = descriptors.map((descriptor) => applied(root, domain, descriptor))
  if (found.every(({ replaces }) => replaces.length === 0)) return found.map(({ limit }) => limit)
  const replaced = new Set(found.flatMap(({ replaces }) => replaces))
  return found.map(({ limit }) => {
    return limit.kind === 'counted' && limit.name !== '' && replaced.has(limit.name) ? NONE : limit
  })
}

const NONE: Applied = { kind: 'none' }
const NO_NAMES: readonly string[] = []

interface WithReplaced {
  readonly limit: Applied
  readonly replaces: readonly string[]
}

function applied(root: TreeNode, domain: string, { entries, override }: RequestDescriptor): WithReplaced {
  if (override !== undefined) return { limit: overridden(domain, entries, override), replaces: NO_NAMES }
  const found = findLimit(root, domain, entries)
  if (found === undefined) return { limit: NONE, replaces: NO_NAMES }
  const { limit, counted, metric } = found
  const { rule, replaces } = limit
  if (rule === undefined) return { limit: { kind: 'unlimited', metric }, replaces }
  return { limit: countedBy(limit, rule, keyOf(domain, counted), metric), replaces }
}

/** Field by field: spreading one object into another is many times slower, and this is done for every descriptor. */
function countedBy(limit: TreeLimit, rule: Rule, key: readonly string[], metric: string): AppliedLimit {
  return {
    kind: 'counted',
    rule,
    key,
    requestsPerUnit: limit.requestsPerUnit,
    unit: limit.unit,
    name: limit.name,
    shadowMode: limit.shadowMode,
    quotaMode: limit.quotaMode,
    metadata: limit.metadata,
    metric,
  }
}

/** A limit that the request brings along: it counts in whole units, and is never a shadow. */
function overridden(
  domain: string,
  entries: readonly Entry[],
  given: { requestsPerUnit: number; unit: number },
): Applied {
  const unit = unitNumbered(given.unit) as Unit
  const { requestsPerUnit } = given
  const rule = { ...overrideRules[unit], limit: requestsPerUnit }
  const key = keyOf(domain, entries)
  const metric = [domain, ...entries.map((entry) => named(entry))].join('.')
  const plain = { name: '', shadowMode: false, quotaMode: false, metadata: undefined }
  return { ...plain, kind: 'counted', rule, key, requestsPerUnit, unit, metric }
}

/** A rule for each unit, whose limit each request brings. */
const overrideRules = Object.fromEntries(
  unitNames.map((unit) => {
    const options = { name: 'override', limit: 0, window: units[unit].ms, algorithm: 'fixed-window' }
    return [unit, compileRule(options, 'override')]
  }),
) as Record<Unit, Rule>

function named({ key, value }: Entry): string {
  return value === '' ? key : `${key}_${value}`
}

/** What is counted apart: the domain and each entry, so that no two different requests share a count. */
function keyOf(domain: string, entries: readonly Entry[]): string[] {
  const key = [countable(domain)]
  for (const { key: name, value } of entries) key.push(countable(`${escapedName(name)}=${value}`))
  return key
}

function escapedName(name: string): string {
  return name.includes('=') || name.includes('%') ? name.replace(/[%=]/g, escaped) : name
}

function escaped(character: string): string {
  return character === '=' ? '%3D' : '%25'
}

/** By its hash, what no key may be: with braces, control characters, or very long. */
function countable(text: string): string {
  return isKey(text) ? text : hashed(text)
}
