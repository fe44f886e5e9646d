import { type Descriptor, valueIn } from '../descriptor.ts'
import { beginningsOf } from './beginnings.ts'
import { type Match, matches } from './match.ts'
import { networkOf } from './network.ts'
import { PrefixTable } from './prefixes.ts'

/** How a rule can be found: by a value of one dimension that is, or begins with, one of `texts`. */
interface Handle {
  readonly dimension: string
  readonly of: (typeof KINDS)[number]
  readonly texts: readonly string[]
  /** What is left to ask of a rule that was found so. */
  readonly rest: Match
}

/** In the order in which they are preferred. */
const KINDS = ['exact', 'prefix', 'network'] as const

/** The places of rules, ascending, by what they are filed under. */
type Filed = Map<string, number[]>
type Files = Record<Handle['of'], Filed>

/** How the rules that are filed under one dimension are found. */
interface Table {
  readonly dimension: string
  readonly exact: ReadonlyMap<string, readonly number[]>
  readonly prefix: PrefixTable<readonly number[]>
  readonly network: PrefixTable<readonly number[]>
}

/**
 * Finds the rules that match a request without asking all of them: each is filed under the values of one
 * dimension, that which it shares with the fewest rules. What cannot be filed is asked every time: a rule
 * without a condition, or whose conditions are negations or globs that begin with a wildcard.
 */
export class RuleIndex<Rule extends { readonly match: Match }> {
  readonly #rules: readonly Rule[]
  /** For each rule, what being found does not say already. */
  readonly #rest: readonly Match[]
  readonly #unfiled: readonly number[]
  readonly #tables: readonly Table[]

  constructor(rules: readonly Rule[]) {
    this.#rules = [...rules]
    const handles = this.#rules.map(({ match }) => handlesOf(match))
    const all = file(handles)
    const chosen = handles.map((some) => fewestShared(some, all))
    this.#rest = this.#rules.map(({ match }, i) => chosen[i]?.[0]?.rest ?? match)
    this.#unfiled = [...chosen.keys()].filter((i) => chosen[i]?.length === 0)
    this.#tables = [...file(chosen)].map(([dimension, { exact, prefix, network }]) => {
      return { dimension, exact, prefix: new PrefixTable(prefix), network: new PrefixTable(network) }
    })
  }

  /** The rules that match, in their order. */
  matching(descriptor: Descriptor): Rule[] {
    const matching: Rule[] = []
    for (const i of this.#candidates(descriptor)) {
      if (matches(this.#rest[i] as Match, descriptor)) matching.push(this.#rules[i] as Rule)
    }
    return matching
  }

  /** The first rule that matches. */
  first(descriptor: Descriptor): Rule | undefined {
    for (const i of this.#candidates(descriptor)) {
      if (matches(this.#rest[i] as Match, descriptor)) return this.#rules[i]
    }
    return undefined
  }

  #candidates(descriptor: Descriptor): readonly number[] {
    const found: (readonly number[])[] = this.#unfiled.length > 0 ? [this.#unfiled] : []
    for (const { dimension, exact, prefix, network } of this.#tables) {
      const value = valueIn(descriptor, dimension)
      if (value === undefined) continue
      const same = exact.get(value)
      if (same !== undefined) found.push(same)
      if (prefix.size > 0) found.push(...prefix.find(value))
      const bits = network.size > 0 ? networkOf(value) : undefined
      if (bits !== undefined) found.push(...network.find(bits))
    }
    if (found.length < 2) return found[0] ?? []
    // No rule is there twice: it has one dimension, and none of its texts there begins with another.
    return found.flat().sort((one, other) => one - other)
  }
}

/** All the ways in which a rule could be found. */
function handlesOf(match: Match): Handle[] {
  return match.flatMap(([dimension, condition], i): Handle[] => {
    // A glob asks for more than a beginning.
    const rest = condition.kind === 'glob' ? match : match.toSpliced(i, 1)
    if (condition.kind === 'exact') return [{ dimension, of: 'exact', texts: condition.values, rest }]
    const beginnings = beginningsOf(condition)
    // Every value begins with nothing.
    return beginnings === undefined || beginnings.texts.includes('') ? [] : [{ dimension, ...beginnings, rest }]
  })
}

function file(handles: readonly (readonly Handle[])[]): Map<string, Files> {
  const files = new Map<string, Files>()
  for (const [i, some] of handles.entries()) {
    for (const { dimension, of, texts } of some) {
      const { [of]: filed } = getOrSet(files, dimension, () => ({
        exact: new Map(),
        prefix: new Map(),
        network: new Map(),
      }))
      for (const text of texts) getOrSet(filed, text, () => []).push(i)
    }
  }
  return files
}

/** Of the handles of a rule the one that leads to the fewest others, whichever value leads there; none where it has none. */
function fewestShared(handles: readonly Handle[], all: ReadonlyMap<string, Files>): readonly Handle[] {
  const ranked = handles.map((handle) => {
    const filed = all.get(handle.dimension)?.[handle.of]
    const shared = handle.texts.reduce((most, text) => Math.max(most, filed?.get(text)?.length ?? 0), 0)
    return { handle, shared, rank: KINDS.indexOf(handle.of) }
  })
  ranked.sort((one, other) => one.shared - other.shared || one.rank - other.rank)
  return ranked.slice(0, 1).map(({ handle }) => handle)
}

function getOrSet<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}
