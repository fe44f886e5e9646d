import { createHash } from 'node:crypto'
import { compileRule, type Rule } from 'tidegate/store'
import type { ConfiguredDescriptor, ConfiguredDomain, ConfiguredLimit } from './configured-domain.ts'
import { compositeOf } from './read-domain.ts'

/** A limit that descriptors are counted by. */
export interface TreeLimit extends ConfiguredLimit {
  /** Where it stands: `domain.key_value.key`. */
  readonly path: string
  /** How it is counted; undefined where it is unlimited. */
  readonly rule: Rule | undefined
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly detailedMetric: boolean
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/** One level of a domain: what the next entry of a request is looked up in. */
export interface TreeNode {
  readonly children: Map<string, TreeNode>
  /** The children whose value has `*`, in the order of the file. */
  readonly wildcards: { readonly parts: readonly string[]; readonly node: TreeNode }[]
  readonly limit: TreeLimit | undefined
  readonly valueToMetric: boolean
  /** The composite key as it is written. */
  readonly composite: string
  /** What stands for the values that share a count, `files*`; undefined where each has its own. */
  readonly sharedValue: string | undefined
}

/** The empty level that a domain begins with. */
export function domainRoot(): TreeNode {
  return newNode('', undefined, {})
}

/**
 * Puts the descriptors of a file into a domain.
 * @returns composite keys, with their way from the domain, that are there already: none of these has been put in
 */
export function plant(root: TreeNode, { domain, descriptors }: ConfiguredDomain): string[] {
  return grow(root, `${domain}.`, descriptors)
}

function grow(parent: TreeNode, path: string, descriptors: readonly ConfiguredDescriptor[]): string[] {
  return descriptors.flatMap((descriptor) => {
    const composite = compositeOf(descriptor)
    const own = path + composite
    if (parent.children.has(composite)) return [own]
    const limit = descriptor.rateLimit === undefined ? undefined : treeLimit(descriptor, descriptor.rateLimit, own)
    const node = newNode(composite, limit, descriptor)
    parent.children.set(composite, node)
    if (composite.includes('*')) parent.wildcards.push({ parts: composite.split('*'), node })
    return grow(node, `${own}.`, descriptor.descriptors)
  })
}

function newNode(composite: string, limit: TreeLimit | undefined, descriptor: Partial<ConfiguredDescriptor>): TreeNode {
  const { key = '', valueToMetric = false, shareThreshold = false } = descriptor
  const sharedValue = shareThreshold ? composite.slice(key.length + 1) : undefined
  return { children: new Map(), wildcards: [], limit, valueToMetric, composite, sharedValue }
}

function treeLimit(descriptor: ConfiguredDescriptor, limit: ConfiguredLimit, path: string): TreeLimit {
  const { shadowMode, quotaMode, detailedMetric, metadata } = descriptor
  const { counting } = limit
  const rule = counting === undefined ? undefined : compileRule({ name: ruleName(path), ...counting }, path)
  return { ...limit, path, rule, shadowMode, quotaMode, detailedMetric, metadata }
}

/** A name that can stand in keys and metrics: the path as far as it can, and a hash where that does not tell it from others. */
export function ruleName(path: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(path)) return path
  const readable = path.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 8)
  return `${readable.slice(0, 55) || 'limit'}-${hash}`
}
