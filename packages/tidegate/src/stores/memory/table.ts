import type { Algorithm } from '../../algorithms/algorithm.ts'
import type { Rule } from '../../rule.ts'

/** The states of one rule's keys, by the key's values. */
export interface Table {
  /** The rule as it was last seen: its limit can change. */
  rule: Rule
  /**
   * Of all limits that it has been seen with, the one under which a bucket fills most slowly: a key may have any of them,
   * and is forgotten only when it counts under none.
   */
  slowest: Rule
  readonly algorithm: Algorithm
  readonly states: Map<string, number>
}

/** Where a state is filed. */
export interface Place {
  readonly table: Table
  readonly name: string
  readonly state: number
}

/** What a key of a rule is called among the blocks of all of them. */
export function blockName({ id }: Rule, name: string): string {
  return `${id}\n${name}`
}
