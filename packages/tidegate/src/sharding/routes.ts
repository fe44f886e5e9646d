import type { Key } from '../key.ts'
import type { Rule } from '../rule.ts'
import { amountsOf } from './split.ts'

/**
 * The shard of a request with an id, from 0: the FNV-1a hash (32 bits) of the bytes of its UTF-16 code units (the high one
 * only where it is not 0, behind the low one), mixed by MurmurHash3's fmix32, modulo the number of shards. The same in
 * every process.
 */
export function shardOfId(id: string, shards: number): number {
  return hash(id) % shards
}

/** A rule as one of its shards counts: the same object each time. */
export function shardRule(rule: Rule, shard: number): Rule {
  let known = rules.get(rule)
  if (known === undefined) {
    known = []
    rules.set(rule, known)
  }
  known[shard] ??= { ...rule, ...amountsOf(rule, shard) }
  return known[shard]
}

const rules = new WeakMap<Rule, Rule[]>()

/** The key of a shard: behind the values its number, in two digits. */
export function shardKey(key: Key, shard: number): Key {
  const name = NAMES[shard] as string
  return typeof key === 'string' ? [key, name] : [...key, name]
}

const NAMES = Array.from({ length: 100 }, (_, shard) => String(shard).padStart(2, '0'))

/** How many positions a rule has: keys that share one still have their turns, if not quite evenly. */
const POSITIONS = 1024

/** Sends the requests of a key that have no id to its shards in turn; bounded, whatever the keys. */
export class Turns {
  readonly #positions = new WeakMap<Rule, Uint32Array>()

  /** The shard whose turn it is, from 0. */
  next(rule: Rule, key: Key): number {
    return (this.#of(rule)[placeOf(key)] as number) % rule.shards
  }

  /** Its turn is over. */
  pass(rule: Rule, key: Key): void {
    const positions = this.#of(rule)
    const place = placeOf(key)
    positions[place] = ((positions[place] as number) + 1) % rule.shards
  }

  #of(rule: Rule): Uint32Array {
    const known = this.#positions.get(rule)
    if (known !== undefined) return known
    // Processes that start together do not all begin with the same shard.
    const made = new Uint32Array(POSITIONS).map(() => Math.floor(Math.random() * rule.shards))
    this.#positions.set(rule, made)
    return made
  }
}

function placeOf(key: Key): number {
  return hash(typeof key === 'string' ? key : key.join()) % POSITIONS
}

function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    sum = Math.imul(sum ^ (code & 0xff), 0x01000193)
    if (code > 0xff) sum = Math.imul(sum ^ (code >>> 8), 0x01000193)
  }
  // The end of MurmurHash3: without it the lowest bit would be the parity of the lowest bits.
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35)
  return (sum ^ (sum >>> 16)) >>> 0
}
