import type { CompiledCondition } from './condition.ts'
import { type Glob, headOf, parseGlob } from './glob.ts'
import { networkOf } from './network.ts'
import { fewestPrefixes } from './prefixes.ts'

/** How every value that meets a condition begins, with one of `texts`: as it is written, or in the bits of its network. */
export interface Beginnings {
  readonly of: 'prefix' | 'network'
  /** In order, none of which begins with another. */
  readonly texts: readonly string[]
}

/** Undefined for a condition that says nothing about how values begin, or says it better. */
export function beginningsOf(condition: CompiledCondition): Beginnings | undefined {
  switch (condition.kind) {
    case 'prefix':
      return { of: 'prefix', texts: condition.values }
    case 'glob':
      return { of: 'prefix', texts: fewestPrefixes(condition.values.map((glob) => headOf(parseGlob(glob) as Glob))) }
    case 'cidr':
      return { of: 'network', texts: condition.values.map((network) => networkOf(network) as string) }
    default:
      return undefined
  }
}
