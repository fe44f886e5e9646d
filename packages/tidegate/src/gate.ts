import type { DescriptorOf, DimensionsOf, WithoutOthers } from './dimensions.ts'
import { checkPolicy } from './failure-policy.ts'
import type { Gate, GateOptions } from './gate/gate-methods.ts'
import { RuleGate } from './gate/rule-gate.ts'
import { RuleSet } from './gate/rule-set.ts'
import { checkMaxWaiting } from './local/acquire.ts'
import { WaitingLines } from './local/waiting-lines.ts'
import { observeDecisions } from './observed-decisions.ts'
import { checkObserver } from './observer.ts'
import { checkFields } from './options.ts'
import type { RuleOptions } from './rule.ts'
import { checkAtomicity } from './slots.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import { checkStore } from './stores/store.ts'

export type { Gate, GateOptions }

/**
 * Many rules over one request.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`, `ERR_INVALID_KEY`
 */
export function createGate<const Rules extends readonly RuleOptions[]>(
  options: GateOptions<Rules> & { readonly rules: WithoutOthers<Rules> },
): Gate<DescriptorOf<DimensionsOf<Rules>>> {
  checkFields(options, 'options', ['rules', 'store', 'slot', 'atomicity', 'onStoreFailure', 'observer', 'maxWaiting'])
  const store = options.store === undefined ? memoryStore() : checkStore(options.store)
  const isStrict = checkAtomicity(options.atomicity) === 'strict' && store.cluster === true
  const onStoreFailure = checkPolicy(options.onStoreFailure, 'onStoreFailure')
  const common = { slot: options.slot, isStrict, onStoreFailure, observer: checkObserver(options.observer) }
  const lines = new WaitingLines(checkMaxWaiting(options.maxWaiting))
  const gate = new RuleGate(new RuleSet(options.rules, common), common, store, options.store === undefined, lines)
  return observeDecisions(gate, common.observer)
}
