import type { RuleOptions } from 'tidegate'
import { TidegateError } from 'tidegate'
import { compileRule, overrideFields } from 'tidegate/store'
import { matchProblem } from './match-problem.ts'
import type { ConfigProblem } from './problem.ts'
import type { Path, YamlDocument } from './yaml-document.ts'

/** The field of a rule that an error names, the item of a list, and what it is called within. */
const FIELD = /^rules\[\d+\]\.(\w+)(?:\[(\d+)\])?(?:\.(\w+)$)?/

/** Values that the library has nothing against, to look behind the first error of a rule; a field that is not here is left out. */
const HARMLESS: Partial<RuleOptions> = { name: 'a', limit: 1, window: 1 }

/** What the library has against the rules, each field of each rule for itself, and then rules of the same name. */
export function checkValues(
  rules: readonly unknown[],
  misshapen: ReadonlySet<number>,
  document: YamlDocument,
): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  for (const [i, rule] of rules.entries()) {
    if (misshapen.has(i)) continue
    problems.push(...errorsOfRule(rule, i).map((error) => valueProblem(error, i, rule, document)))
  }
  return [...problems, ...checkNames(rules, document)]
}

/** The library stops at the first error: each field that has one is made harmless, until there is none. */
function errorsOfRule(rule: unknown, index: number): TidegateError[] {
  const errors: TidegateError[] = []
  const fields = new Map(Object.entries(rule as object))
  const most = fields.size
  while (errors.length <= most) {
    try {
      compileRule(Object.fromEntries(fields), `rules[${index}]`)
      return errors
    } catch (error) {
      if (!(error instanceof TidegateError)) throw error
      errors.push(error)
      const [, name = ''] = FIELD.exec(error.field ?? '') ?? []
      // What is no error of a field that stands there could not be got behind.
      if (!fields.delete(name)) return errors
      if (Object.hasOwn(HARMLESS, name)) fields.set(name, HARMLESS[name as keyof RuleOptions])
    }
  }
  return errors
}

function valueProblem(error: TidegateError, index: number, rule: unknown, document: YamlDocument): ConfigProblem {
  const field = error.field ?? `rules[${index}]`
  const expected = error.expected ?? error.message
  const [, name, item, within] = FIELD.exec(field) ?? []
  const path: Path = ['rules', index, ...stepTo(name), ...(item === undefined ? [] : [Number(item)])]
  const isAmount = name === 'overrides' && within !== undefined && overrideFields.includes(within)
  const conditions = isAmount || !HAVE_CONDITIONS.includes(name ?? '') ? undefined : mappingAt(rule, path.slice(2))
  if (conditions !== undefined) return matchProblem(error, path, conditions, document)
  const place: Path = [...path, ...stepTo(within)]
  if (error.code === 'ERR_UNKNOWN_OPTION') {
    const position = document.positionOfKey(place.slice(0, -1), String(place.at(-1)))
    return { ...position, what: `${field} does not exist`, expected }
  }
  return { ...document.positionOf(place), what: `${field} is ${document.show(place)}`, expected }
}

/** The fields of a rule with mappings of dimensions and conditions: themselves, or in a list. */
const HAVE_CONDITIONS = ['match', 'skip', 'overrides']

function stepTo(name: string | undefined): Path {
  return name === undefined ? [] : [name]
}

function mappingAt(rule: unknown, path: Path): Record<string, unknown> | undefined {
  const found = path.reduce((value, step) => (value as Record<string | number, unknown> | undefined)?.[step], rule)
  return typeof found === 'object' && found !== null && !Array.isArray(found) && Object.keys(found).length > 0
    ? (found as Record<string, unknown>)
    : undefined
}

function checkNames(rules: readonly unknown[], document: YamlDocument): ConfigProblem[] {
  const first = new Map<string, number>()
  const problems: ConfigProblem[] = []
  for (const [i, rule] of rules.entries()) {
    const name = (rule as Partial<RuleOptions> | null)?.name
    if (typeof name !== 'string') continue
    const earlier = first.get(name)
    if (earlier === undefined) {
      first.set(name, i)
      continue
    }
    const path = ['rules', i, 'name']
    const what = `rules[${i}].name is ${document.show(path)}, as rules[${earlier}].name is`
    problems.push({ ...document.positionOf(path), what, expected: 'a name that no other rule has' })
  }
  return problems
}
