import { invalid, memberOf, unknownOption } from '../errors.ts'
import { checkKey } from '../key.ts'
import { isRecord } from '../options.ts'
import { type Glob, globMatcher, parseGlob } from './glob.ts'
import { formatNetwork, networkOf, parseNetwork } from './network.ts'
import { beginsWithAny, fewestPrefixes } from './prefixes.ts'

type OneOrMore = string | readonly string[]
type Plain = OneOrMore | { readonly prefix: OneOrMore } | { readonly glob: OneOrMore } | { readonly cidr: OneOrMore }

/**
 * What a rule asks of a dimension: a value, or any of several; `{ prefix: '/api/' }`; `{ glob: '/users/?*' }`,
 * where `*` is any characters but '/', `**` any at all, `?` one but '/', and a backslash takes the next one as it is;
 * `{ cidr: '10.0.0.0/8' }` for IP addresses; each of these also with a list, any of which will do. `{ not: … }` is
 * met by what does not meet the condition in it, and by a request without the dimension, which meets no other.
 */
export type Condition = Plain | { readonly not: Plain }

/**
 * A condition that has been checked. Its JSON is the same for conditions that differ in spelling, order
 * or repetitions alone; `values` are sorted, and none is there that another one covers.
 */
export type CompiledCondition = Listed | Negated

interface Listed extends Matching {
  readonly kind: 'exact' | 'prefix' | 'glob' | 'cidr'
  readonly values: readonly string[]
}

interface Negated extends Matching {
  readonly kind: 'not'
  readonly condition: Listed
}

interface Matching {
  /** Whether the value of the dimension meets the condition; undefined where the request lacks it. */
  readonly matches: (value: string | undefined) => boolean
}

const KINDS = ['prefix', 'glob', 'cidr', 'not']
const EXPECTED = 'a string, a list of strings, or a condition by prefix, glob, cidr or not'

/**
 * Checks what a rule asks of one dimension. `field` is where it stands, e.g. `rules[2].match.route`.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY`
 */
export function compileCondition(value: unknown, field: string): CompiledCondition {
  if (!isRecord(value)) return exactly(value, field)
  const kind = onlyKind(value, field)
  if (kind !== 'not') return COMPILE[kind](value[kind], `${field}.${kind}`)
  const inner = compileCondition(value[kind], `${field}.not`)
  if (inner.kind === 'not') throw invalid('ERR_INVALID_OPTION', `${field}.not`, NOT_EXPECTED, value[kind])
  return { kind, condition: inner, matches: (value) => !inner.matches(value) }
}

const NOT_EXPECTED = 'a condition other than not: not of not is the condition itself'

type Kind = keyof typeof COMPILE | 'not'

/** The one key that a condition has. */
function onlyKind(value: Record<string, unknown>, field: string): Kind {
  const names = Object.keys(value)
  const unknown = names.find((name) => !KINDS.includes(name))
  if (unknown !== undefined) throw unknownOption(memberOf(field, unknown), KINDS)
  if (names.length === 1) return names[0] as Kind
  if (names.length === 0) throw invalid('ERR_INVALID_OPTION', field, EXPECTED, value)
  const expected =
    `one of ${names.join(', ')} alone: for any of several, a list in it or a rule for each; ` +
    'for all of several, a glob that says both'
  throw invalid('ERR_INVALID_OPTION', field, expected, value)
}

const COMPILE = {
  prefix(value: unknown, field: string): Listed {
    const values = fewestPrefixes(listOf(value, field, checkKey))
    return { kind: 'prefix', values, matches: (value) => value !== undefined && beginsWithAny(value, values) }
  },

  glob(value: unknown, field: string): Listed {
    const globs = new Map(listOf(value, field, checkGlob))
    const values = [...globs.keys()].sort()
    const matchers = values.map((pattern) => globMatcher(globs.get(pattern) as Glob))
    return { kind: 'glob', values, matches: (value) => value !== undefined && matchers.some((match) => match(value)) }
  },

  cidr(value: unknown, field: string): Listed {
    const networks = fewestPrefixes(listOf(value, field, checkNetwork))
    const matches = (value: string | undefined) => {
      const bits = value === undefined ? undefined : networkOf(value)
      return bits !== undefined && beginsWithAny(bits, networks)
    }
    return { kind: 'cidr', values: networks.map(formatNetwork), matches }
  },
}

function exactly(value: unknown, field: string): Listed {
  if (typeof value !== 'string' && !Array.isArray(value)) throw invalid('ERR_INVALID_OPTION', field, EXPECTED, value)
  const wanted = new Set(listOf(value, field, checkKey))
  const values = [...wanted].sort()
  const [only] = values
  const matches =
    values.length === 1 ? (value?: string) => value === only : (value?: string) => wanted.has(value as string)
  return { kind: 'exact', values, matches }
}

/** One value, or each of a list, checked. */
function listOf<Checked>(value: unknown, field: string, check: (value: unknown, field: string) => Checked): Checked[] {
  if (!Array.isArray(value)) return [check(value, field)]
  if (value.length === 0) throw invalid('ERR_INVALID_OPTION', field, 'at least one value', value)
  return Array.from(value, (one: unknown, i) => check(one, `${field}[${i}]`))
}

function checkGlob(value: unknown, field: string): readonly [pattern: string, glob: Glob] {
  const pattern = checkKey(value, field)
  const glob = parseGlob(pattern)
  if (glob !== undefined) return [pattern, glob]
  throw invalid('ERR_INVALID_OPTION', field, 'a glob with a character behind its last backslash', value)
}

function checkNetwork(value: unknown, field: string): string {
  const network = typeof value === 'string' ? parseNetwork(value) : undefined
  if (network?.exact) return network.bits
  const expected =
    network === undefined
      ? "an IP address or a network such as '10.0.0.0/8' or '2001:db8::/32'"
      : `the network ${formatNetwork(network.bits)}, which has no bits beyond its prefix`
  throw invalid('ERR_INVALID_OPTION', field, expected, value)
}
