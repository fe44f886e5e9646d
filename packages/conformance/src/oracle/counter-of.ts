import type { AlgorithmSpelling, LimitOptions } from 'tidegate'
import { ConcurrencyCounter } from './concurrency-counter.ts'
import type { Counter } from './counter.ts'
import { FixedWindowCounter } from './fixed-window-counter.ts'
import { QuotaCounter } from './quota-counter.ts'
import { SlidingCounterCounter } from './sliding-counter-counter.ts'
import { SlidingLogCounter } from './sliding-log-counter.ts'
import { SlidingWindowCounter } from './sliding-window-counter.ts'
import { TokenBucketCounter } from './token-bucket-counter.ts'

/** The oracle of each algorithm; durations of a rule are numbers here. */
const COUNTERS: Record<AlgorithmSpelling, (rule: LimitOptions) => Counter> = {
  'sliding-window': ({ limit, window, resolution = 1 }) =>
    new SlidingWindowCounter(limit, window as number, resolution as number),
  'fixed-window': (rule) => new FixedWindowCounter(rule),
  'sliding-counter': ({ limit, window }) => new SlidingCounterCounter(limit, window as number),
  'token-bucket': ({ limit, window, capacity = limit, refill = limit }) =>
    new TokenBucketCounter(capacity, refill, window as number),
  gcra: ({ limit, period, burst = limit }) => new TokenBucketCounter(burst, limit, period as number),
  'sliding-log': ({ limit, window }) => new SlidingLogCounter(limit, window as number),
  concurrency: ({ limit, window }) => new ConcurrencyCounter(limit, window as number),
  quota: ({ limit }) => new QuotaCounter(limit),
}

export function counterOf(rule: LimitOptions): Counter {
  return COUNTERS[rule.algorithm ?? 'sliding-window'](rule)
}
