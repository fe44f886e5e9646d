import type { TreeLimit, TreeNode } from './limit-tree.ts'

/** One entry of a request's descriptor. */
export interface Entry {
  readonly key: string
  readonly value: string
}

/** The limit of a descriptor, and what it is counted under. */
export interface Found {
  readonly limit: TreeLimit
  /** The entries with, where values share a count, what is written in the file in their stead. */
  readonly counted: readonly Entry[]
  /** What the limit is called in metrics: its place in the file, with values where the file asks for them. */
  readonly metric: string
}

/**
 * The limit of a descriptor, as envoyproxy/ratelimit finds it. On each level: the child with this key and value, else the
 * first in the file whose `*` fits, else the child with the key alone. The limit counts if it stands at the last entry.
 */
export function findLimit(root: TreeNode, domain: string, entries: readonly Entry[]): Found | undefined {
  const counted: Entry[] = []
  const [plain, detailed] = [[domain], [domain]]
  let parent = root
  for (const [i, entry] of entries.entries()) {
    const step = nextLevel(parent, entry)
    if (step === undefined) return undefined
    const { node, written } = step
    const shared = step.isWildcard ? node.sharedValue : undefined
    counted.push(shared === undefined ? entry : { key: entry.key, value: shared })
    plain.push(named(entry.key, shared ?? (node.valueToMetric ? entry.value : written)))
    detailed.push(named(entry.key, shared ?? entry.value))
    if (i === entries.length - 1) {
      if (node.limit === undefined) return undefined
      return { limit: node.limit, counted, metric: (node.limit.detailedMetric ? detailed : plain).join('.') }
    }
    parent = node
  }
  return undefined
}

interface Step {
  readonly node: TreeNode
  readonly isWildcard: boolean
  /** The value as the file has it; empty where it has the key alone. */
  readonly written: string
}

function nextLevel(parent: TreeNode, { key, value }: Entry): Step | undefined {
  const composite = `${key}_${value}`
  const exact = parent.children.get(composite)
  if (exact !== undefined) return { node: exact, isWildcard: false, written: value }
  const fitting = parent.wildcards.find(({ parts }) => fits(parts, composite))
  if (fitting !== undefined) {
    return { node: fitting.node, isWildcard: true, written: fitting.node.composite.slice(key.length + 1) }
  }
  const any = parent.children.get(key)
  return any === undefined ? undefined : { node: any, isWildcard: false, written: '' }
}

/** Whether a text is these parts with anything between them. Linear: the leftmost place of each part is as good as any. */
function fits(parts: readonly string[], text: string): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop() ?? ''
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let position = first.length
  for (const part of rest) {
    const at = text.indexOf(part, position)
    if (at < 0 || at + part.length > end) return false
    position = at + part.length
  }
  return position <= end
}

function named(key: string, value: string): string {
  return value === '' ? key : `${key}_${value}`
}
