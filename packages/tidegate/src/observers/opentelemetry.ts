import { checkFields } from '../options.ts'
import { warnOnce } from '../warning.ts'
import { BUCKETS, codeOf, DecisionCounts, KEY_BUCKETS, type MetricsObserver } from './labels.ts'

type Attributes = Record<string, string>

interface InstrumentOptions {
  description?: string
  unit?: string
  advice?: { explicitBucketBoundaries?: number[] }
}

interface Counter {
  add(value: number, attributes?: Attributes): void
}

/** What is used of a meter of `@opentelemetry/api`. */
export interface Meter {
  createCounter(name: string, options?: InstrumentOptions): Counter
  createUpDownCounter(name: string, options?: InstrumentOptions): Counter
  createHistogram(name: string, options?: InstrumentOptions): { record(value: number, attributes?: Attributes): void }
}

export interface OpenTelemetryOptions {
  /** How many names of rules are told apart, those after them being `other`; 1 to 1,000,000. Default: 1,000. */
  maxRules?: number
}

/**
 * An observer that keeps instruments of OpenTelemetry. Hand the same to every store, limiter and gate. Warnings are counted,
 * and given as Node gives them.
 * @param meter `metrics.getMeter('tidegate')` of `@opentelemetry/api`
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function openTelemetryObserver(meter: Meter, options: OpenTelemetryOptions = {}): MetricsObserver {
  const { maxRules } = checkFields(options, 'options', ['maxRules'])
  const counter = (name: string, unit: string, description: string): Counter => {
    return meter.createCounter(`tidegate.${name}`, { unit, description })
  }
  const decided = counter(
    'decisions',
    '{decision}',
    'Requests by the rule that decided, what it said, and where it was decided.',
  )
  const seconds = meter.createHistogram('tidegate.decision.duration', {
    unit: 's',
    description: 'From a call to its decision, by what was called.',
    advice: { explicitBucketBoundaries: [...BUCKETS] },
  })
  const batchKeys = meter.createHistogram('tidegate.store.batch.keys', {
    unit: '{key}',
    description: 'Keys in each call of Redis that decides: what is asked at the same time travels together.',
    advice: { explicitBucketBoundaries: [...KEY_BUCKETS] },
  })
  const permits = counter(
    'leased_permits',
    '{permit}',
    'Permits of rules with mode: leased, taken from the store, given back unused, and ended unused.',
  )
  const errors = counter(
    'store.errors',
    '{error}',
    'Questions that the store did not answer, by the code of the error.',
  )
  const fallbacks = counter(
    'fallbacks',
    '{decision}',
    'Decisions that were made without the store, by why it did not decide.',
  )
  const late = counter(
    'late_replies',
    '{reply}',
    'Answers of the store that came after the decision had been made without it.',
  )
  const open = meter.createUpDownCounter('tidegate.breaker.open', {
    unit: '{store}',
    description: 'How many stores are not asked, because they have failed too often.',
  })
  const refusals = counter('config.refusals', '{refusal}', 'Rules that were refused, and not taken.')
  const warnings = counter('warnings', '{warning}', 'Warnings, by their code.')
  const counts = new DecisionCounts(maxRules, ({ rule, outcome, source }) => {
    decided.add(1, { 'tidegate.rule': rule, 'tidegate.outcome': outcome, 'tidegate.source': source })
  })
  return {
    decision(event) {
      counts.add(event)
      seconds.record(event.durationMs / 1000, { 'tidegate.operation': event.operation })
    },
    fallback: ({ cause }) => fallbacks.add(1, { 'tidegate.cause': cause }),
    lateReply: () => late.add(1),
    lease: ({ rule, what, permits: count }) => {
      permits.add(count, { 'tidegate.rule': counts.named(rule), 'tidegate.what': what })
    },
    batch: ({ keys }) => batchKeys.record(keys),
    breakerChange({ from, to }) {
      if (from === 'closed') open.add(1)
      if (to === 'closed') open.add(-1)
    },
    storeError: ({ error }) => errors.add(1, { 'error.type': codeOf(error) }),
    configRefusal: () => refusals.add(1),
    warning(warning) {
      warnings.add(1, { 'tidegate.code': warning.code })
      warnOnce(warning)
    },
  }
}
