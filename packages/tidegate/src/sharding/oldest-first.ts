import type { RuleDecision } from '../decision.ts'
import type { Key } from '../key.ts'
import type { Rule } from '../rule.ts'
import type { Store } from '../stores/store.ts'

interface Counter {
  readonly rule: Rule
  readonly key: Key
}

/** Those of these counters that have used anything, the one first whose oldest live admission ends first. */
export async function oldestFirst<One extends Counter>(store: Store, counters: readonly One[]): Promise<One[]> {
  const peek = async ({ rule, key }: Counter, cost: number) => {
    const [figures] = await store.decide([{ rule, key, cost }], 'peek')
    return figures as RuleDecision
  }
  const ages = await Promise.all(
    counters.map(async (counter) => {
      const { used, remaining } = await peek(counter, 0)
      // One more than there is room for has to wait for the oldest to end.
      const wait = used === 0 ? undefined : (await peek(counter, remaining + 1)).retryAfterMs
      return { counter, used, wait: wait ?? Number.POSITIVE_INFINITY }
    }),
  )
  const using = ages.filter(({ used }) => used > 0)
  return using.sort((one, other) => (one.wait === other.wait ? 0 : one.wait - other.wait)).map(({ counter }) => counter)
}
