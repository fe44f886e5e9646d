import type { RuleOptions } from 'tidegate'
import { TidegateError } from 'tidegate'
import { compileRule, isKey } from 'tidegate/store'
import type { ConfigProblem } from './problem.ts'
import { type Path, shown, type YamlDocument } from './yaml-document.ts'

/** What the library has against the rules, each rule for itself, and then rules of the same name. */
export function checkValues(
  rules: readonly unknown[],
  misshapen: ReadonlySet<number>,
  document: YamlDocument,
): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  for (const [i, rule] of rules.entries()) {
    if (misshapen.has(i)) continue
    try {
      compileRule(rule, `rules[${i}]`)
    } catch (error) {
      if (!(error instanceof TidegateError)) throw error
      problems.push(valueProblem(error, i, rule, document))
    }
  }
  return [...problems, ...checkNames(rules, document)]
}

function valueProblem(error: TidegateError, index: number, rule: unknown, document: YamlDocument): ConfigProblem {
  const field = error.field ?? `rules[${index}]`
  const expected = error.expected ?? error.message
  const place = ['rules', index]
  const [, name, item] = /^rules\[\d+\]\.(\w+)(?:\[(\d+)\])?/.exec(field) ?? []
  if (name === 'match') {
    const { match = {} } = rule as Partial<RuleOptions>
    // By the entry itself: in `field` its name may have been quoted and shortened.
    const [dimension = ''] = Object.entries(match).find((entry) => !entry.every(isKey)) ?? []
    const path = [...place, name, dimension]
    if (!isKey(dimension)) {
      const what = `${field} has the dimension ${shown(dimension)}`
      return { ...document.positionOfKey([...place, name], dimension), what, expected }
    }
    return { ...document.positionOf(path), what: `${field} is ${document.show(path)}`, expected }
  }
  const path: Path = [...place, ...(name === undefined ? [] : [name]), ...(item === undefined ? [] : [Number(item)])]
  return { ...document.positionOf(path), what: `${field} is ${document.show(path)}`, expected }
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
