import { checkEach, encodeKey, isPlainKey, type Key } from '../../key.ts'
import type { Rule } from '../../rule.ts'

/** What the keys of a store begin with, and whether all of them are hashed. */
interface Naming {
  readonly prefix: string
  readonly hashKeys: boolean
}

/** Where a store says nothing else. */
export const DEFAULT_NAMING: Naming = { prefix: 'tg', hashKeys: false }

/**
 * `<prefix>:{<values>}:<rule>.<fingerprint>`: the values stand in the hash tag, so that rules that count by the same
 * dimensions share a slot of a cluster. Where the gate has a slot dimension its value stands there alone, and the
 * others behind: `<prefix>:{<value>}:<rule>.<fingerprint>:<values>`. The number of a shard stands in the hash tag too,
 * behind a comma, so that each shard has its own slot. The fingerprint covers the state's format.
 * @throws TidegateError `ERR_INVALID_KEY`
 */
export function redisKey(rule: Rule, key: Key, naming: Naming = DEFAULT_NAMING): string {
  const { prefix, hashKeys } = naming
  const { slot, id } = rule
  if (typeof key === 'string' && !hashKeys && isPlainKey(key)) return `${prefix}:{${key}}:${id}`
  checkEach(key)
  if (slot < 0 || typeof key === 'string') return `${prefix}:{${encodeKey(key, hashKeys)}}:${id}`
  // The key of a shard has its number behind the values.
  const shard = key.length > rule.key.length ? key.slice(-1) : []
  const others = key.slice(0, rule.key.length).filter((_, i) => i !== slot)
  const tag = encodeKey([key[slot] as string, ...shard], hashKeys)
  return `${prefix}:{${tag}}:${id}:${encodeKey(others, hashKeys)}`
}
