import type { Decision, Descriptor, Gate } from 'tidegate'
import type { Denial } from './service-event.ts'

/** Is told of a request that was refused; what that says is made only where it is wanted. */
export type OnDenial = (denial: () => Denial) => void

const MOST_CHARACTERS = 128

/** What is told of a refusal. */
export function denialOf(decision: Decision, descriptor: Descriptor, rules: Gate['rules']): Denial {
  const { rule, reason, limit, used, retryAfterMs, source } = decision
  const dimensions = rules.find(({ name }) => name === rule)?.key ?? []
  const key = dimensions.map((name): [string, string] => [
    name,
    String(descriptor[name] ?? '').slice(0, MOST_CHARACTERS),
  ])
  return { rule, reason, limit, used, retryAfterMs, source, key: Object.fromEntries(key) }
}
