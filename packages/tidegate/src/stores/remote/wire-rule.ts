import type { AlgorithmName } from '../../limit.ts'
import type { Rule } from '../../rule.ts'
import type { WireRule } from './wire.ts'

/** The fields of each algorithm besides its limit, as a rule is written. */
const FIELDS: Record<AlgorithmName, (rule: Rule) => Partial<WireRule>> = {
  'sliding-window': ({ windowMs, resolutionMs }) => ({ window: windowMs, resolution: resolutionMs }),
  'sliding-log': windowAlone,
  'sliding-counter': windowAlone,
  'fixed-window': fixedWindow,
  'token-bucket': ({ limit, windowMs, refillUnits, tokenUnits }) => {
    return { window: windowMs, capacity: limit, refill: (refillUnits * windowMs) / tokenUnits }
  },
  concurrency: windowAlone,
  quota: () => ({}),
}

function windowAlone({ windowMs }: Rule): Partial<WireRule> {
  return { window: windowMs }
}

function fixedWindow({ windows, windowMs, written }: Rule): Partial<WireRule> {
  if (windows === undefined) return { window: windowMs, align: 'first-hit' }
  if (windows.edges === undefined) return { window: windowMs }
  const { align, timeZone } = written?.fields ?? {}
  return { align, ...(timeZone !== undefined && { timeZone }) }
}

/** What a service has to know of a rule to count by it: a limit that an override or a request has changed is in it as it is. */
export function writeRule(rule: Rule): WireRule {
  const { id, name, key, algorithm, limit, penalty, shadow, onStoreFailure, slot, shards } = rule
  return {
    ...{ id, name, key, algorithm, limit },
    ...FIELDS[algorithm](rule),
    ...(penalty && { penalty: { blocks: penalty.blocksMs, forgetAfter: penalty.forgetAfterMs } }),
    ...(shadow && { shadow }),
    ...(onStoreFailure !== 'local' && { onStoreFailure }),
    ...(slot >= 0 && { slot }),
    ...(shards > 1 && { shards }),
  }
}
