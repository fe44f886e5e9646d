import type { Algorithm } from '../../algorithms/algorithm.ts'
import type { Rule } from '../../rule.ts'
import type { Blocks } from './blocks.ts'
import type { Reservations } from './reservations.ts'

/** The states of one rule's keys, by the key's values. */
export interface Table {
  /** The rule as it was last seen: its limit can change. */
  rule: Rule
  readonly algorithm: Algorithm
  readonly states: Map<string, number>
  /** Undefined as long as no key has been blocked. */
  blocks: Blocks | undefined
  /** Undefined as long as nothing has been reserved. */
  reservations: Reservations | undefined
}

/** Where a state is filed. */
export interface Place {
  readonly table: Table
  readonly name: string
  readonly state: number
}
