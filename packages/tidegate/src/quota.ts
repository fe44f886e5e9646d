/** A span of time: from `start` (included) to `end` (not included), ms since the epoch. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The windows of a fixed window: each instant lies in exactly one. */
export interface Windows {
  /** The window of `time`, ms since the epoch. */
  at(time: number): Span
  /** Of a calendar: the starts of the previous, the current and the next window at `time`, and the end of the next. */
  edges?(time: number): readonly [number, number, number, number]
}

/** What an algorithm needs to know of a rule. Durations in ms. */
export interface Quota {
  readonly name: string
  /** The most cost; of a token bucket the capacity. */
  readonly limit: number
  /** The window as it was written; of a token bucket the time in which `refill` comes, of a lease its life; 0 where there is none. */
  readonly windowMs: number
  /** How long what is admitted can count at most; infinite for a quota. */
  readonly spanMs: number
  /** Sliding window: the length of a tick; sliding counter: the window. 1 elsewhere. */
  readonly resolutionMs: number
  /** Token bucket: each ms brings `refillUnits`, of which a token has `tokenUnits`. 0 elsewhere. */
  readonly refillUnits: number
  readonly tokenUnits: number
  /** Fixed window: its windows; from the first hit on where undefined. */
  readonly windows: Windows | undefined
}
