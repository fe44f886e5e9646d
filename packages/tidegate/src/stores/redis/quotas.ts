import type { AlgorithmName } from '../../limit.ts'
import type { Rule } from '../../rule.ts'

/** The numbers by which the scripts know the algorithms. */
const NUMBERS: Record<AlgorithmName, number> = {
  'sliding-window': 1,
  'sliding-log': 2,
  concurrency: 6,
  quota: 7,
}

/** The words behind the span that each algorithm needs. */
const PARAMETERS: Partial<Record<AlgorithmName, (rule: Rule) => readonly number[]>> = {
  'sliding-window': ({ resolutionMs }) => [resolutionMs],
}

/** A rule's quota as the scripts read it; scripts/decide.lua says what the words mean. */
export function quotaWords(rule: Rule): string[] {
  const { algorithm, limit, penalty, spanMs } = rule
  const parameters = PARAMETERS[algorithm]?.(rule) ?? []
  return [
    String(NUMBERS[algorithm]),
    String(limit),
    penalty === undefined ? '' : [penalty.forgetAfterMs, ...penalty.blocksMs].join(','),
    spanMs === Number.POSITIVE_INFINITY ? '0' : String(spanMs),
    ...parameters.map(String),
  ]
}

/**
 * Ms until a key is as if untouched, where its state follows from the time of its newest admission alone;
 * the script does not send it then.
 */
export function knownReset({ spanMs, resolutionMs }: Rule, at: number): number {
  return spanMs - (at % resolutionMs)
}
