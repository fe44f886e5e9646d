import type { RuleOptions } from 'tidegate'
import { apartInCluster, compileRules } from 'tidegate/store'
import { duplicatesIn } from './duplicates.ts'
import type { Config } from './load-config.ts'
import { suspicionsOf } from './suspicions.ts'
import type { ConfigWarning, Suspicion } from './warning.ts'
import type { YamlDocument } from './yaml-document.ts'

/** What may not be meant in a file without errors, in its order. */
export function warningsOf({ rules }: Config, document: YamlDocument): ConfigWarning[] {
  const compiled = compileRules(rules)
  const duplicates = duplicatesIn(compiled, rules)
  return compiled.flatMap((rule, i) => {
    const found = [...suspicionsOf(rule, rules[i] as RuleOptions), ...(duplicates.get(i) ?? [])]
    return found.map((suspicion) => ({ level: 'warning', ...placed(suspicion, i, rules, document) }))
  })
}

/** Which rules a cluster decides together in more than one step, in the order of the file. */
export function clusterNotes({ rules }: Config, document: YamlDocument): ConfigWarning[] {
  return apartInCluster(compileRules(rules)).map(({ first, second }) => {
    const what = `and ${placeOf(first, rules)} can lie in two slots of a cluster, where a request that both count is decided slot by slot`
    const advice =
      'that never over-admits and leaves no charge of what is refused; for one step, give them the same dimensions as key'
    return { level: 'info', ...placed({ field: 'key', what, advice }, second, rules, document) }
  })
}

function placed({ field, what, advice }: Suspicion, index: number, rules: RuleOptions[], document: YamlDocument) {
  return { ...document.positionOf(['rules', index, field]), what: `${placeOf(index, rules)} ${what}`, advice }
}

function placeOf(index: number, rules: readonly RuleOptions[]): string {
  return `rules[${index}] (${rules[index]?.name})`
}
