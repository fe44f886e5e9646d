import type { AlgorithmName } from '../../limit.ts'
import type { Rule } from '../../rule.ts'

/** The numbers by which the scripts know the algorithms. */
const NUMBERS: Record<AlgorithmName, number> = {
  'sliding-window': 1,
  'fixed-window': 4,
  'sliding-counter': 3,
  'token-bucket': 5,
  'sliding-log': 2,
  concurrency: 6,
  quota: 7,
}

/** The words behind the span that each algorithm needs. */
const PARAMETERS: Partial<Record<AlgorithmName, (rule: Rule, now: number) => readonly number[]>> = {
  'sliding-window': ({ resolutionMs }) => [resolutionMs],
  'fixed-window': alignmentWords,
  'sliding-counter': ({ resolutionMs }) => [resolutionMs],
  'token-bucket': ({ refillUnits, tokenUnits, windowMs }) => [refillUnits, tokenUnits, windowMs / tokenUnits],
}

/** How windows begin, in the words of fixed-window.lua. */
function alignmentWords({ windows }: Rule, now: number): readonly number[] {
  if (windows === undefined) return [1]
  return windows.edges === undefined ? [0] : [2, ...windows.edges(now)]
}

/**
 * A rule's quota as the scripts read it; scripts/decide.lua says what the words mean.
 * @param now about what time it is for the server, ms since the epoch: the windows of a calendar are sent from around then
 */
export function quotaWords(rule: Rule, now: number): string[] {
  const { algorithm, limit, penalty, spanMs } = rule
  const parameters = PARAMETERS[algorithm]?.(rule, now) ?? []
  return [
    String(NUMBERS[algorithm]),
    String(limit),
    penalty === undefined ? '' : [penalty.forgetAfterMs, ...penalty.blocksMs].join(','),
    spanMs === Number.POSITIVE_INFINITY ? '0' : String(spanMs),
    ...parameters.map(String),
  ]
}

/**
 * Ms until a key is as if untouched, where that follows from the rule and the time of its newest admission alone; the
 * script does not send it then.
 */
export function knownReset({ spanMs, resolutionMs, windows }: Rule, at: number): number {
  return windows === undefined ? spanMs - (at % resolutionMs) : windows.at(at).end - at
}
