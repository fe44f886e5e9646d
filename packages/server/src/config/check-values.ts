import type { RuleOptions } from 'tidegate'
import { TidegateError } from 'tidegate'
import { compileRule } from 'tidegate/store'
import type { ConfigProblem } from './problem.ts'
import type { Path, YamlDocument } from './yaml-document.ts'

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
      problems.push(valueProblem(error, i, document))
    }
  }
  return [...problems, ...checkNames(rules, document)]
}

function valueProblem(error: TidegateError, rule: number, document: YamlDocument): ConfigProblem {
  const field = error.field ?? `rules[${rule}]`
  const path = pathOf(field, rule)
  const what = `${field} is ${document.show(path)}`
  return { ...document.positionOf(path), what, expected: error.expected ?? error.message }
}

/** `rules[2].match.a.b` is the dimension `a.b`: below `match` a dot is part of a name. */
function pathOf(field: string, rule: number): Path {
  const [, name, index, rest] = /^rules\[\d+\]\.(\w+)(?:\[(\d+)\]|\.(.+))?$/s.exec(field) ?? []
  if (name === undefined) return ['rules', rule]
  const inner = index === undefined ? rest : Number(index)
  return ['rules', rule, name, ...(inner === undefined ? [] : [inner])]
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
