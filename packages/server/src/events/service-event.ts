import type { BreakerEvent, FallbackEvent, Reason, RuleChanges, Source } from 'tidegate'

/** A request that was refused. */
export interface Denial {
  readonly rule: string | null
  readonly reason: Reason
  readonly limit: number
  readonly used: number
  /** Milliseconds; null for never. */
  readonly retryAfterMs: number | null
  readonly source: Source
  /** What it was counted by: the dimensions of the rule's key, each value cut to 128 characters. */
  readonly key: Readonly<Record<string, string>>
}

/** What `GET /v1/events` tells, by type. */
export interface EventData {
  denial: Denial
  fallback: FallbackEvent
  breaker: BreakerEvent
  config: {
    readonly source: 'rules' | 'ratelimit'
    readonly result: 'accepted' | 'refused'
    readonly version: string
    readonly changes?: RuleChanges
  }
}

export type EventType = keyof EventData

/** One event, as it is kept and handed from process to process. */
export interface ServiceEvent {
  /** Unlike that of any other event of these processes. */
  readonly id: string
  readonly type: EventType
  /** With `at`, milliseconds since the epoch on the clock of this machine. */
  readonly data: object
}
