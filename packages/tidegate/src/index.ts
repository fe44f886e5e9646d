export type { Entry } from './admission.ts'
export type { Alignment, AlignmentOptions } from './alignment.ts'
export type { Clock } from './clock.ts'
export type { Atomicity, Decision, Reason, RuleDecision, Source } from './decision.ts'
export type { Descriptor } from './descriptor.ts'
export type { DescriptorOf, DimensionsOf } from './dimensions.ts'
export type { Duration } from './duration.ts'
export { type ErrorCode, errorCodes, TidegateError } from './errors.ts'
export type { FailurePolicy } from './failure-policy.ts'
export { type Explanation, explain } from './gate/explain.ts'
export type { RuleChange, RuleChanges } from './gate/rule-changes.ts'
export { createGate, type Gate, type GateOptions } from './gate.ts'
export type { ModeOptions, RuleMode } from './leases/lease-options.ts'
export type { AlgorithmName, AlgorithmSpelling, LimitOptions } from './limit.ts'
export type { LimitFromDimension, LimitFunction } from './limit-source.ts'
export { createLimiter, type Limiter, type LimiterOptions } from './limiter.ts'
export type { AcquireOptions, WaitingOptions } from './local/acquire.ts'
export type { CompiledCondition, Condition } from './matching/condition.ts'
export type { Conditions } from './matching/match.ts'
export type {
  BreakerEvent,
  BreakerState,
  ConfigRefusalEvent,
  FallbackCause,
  FallbackEvent,
  LateReplyEvent,
  LeaseEvent,
  Observer,
  StoreErrorEvent,
  WarningCode,
  WarningEvent,
} from './observer.ts'
export type { OverrideOptions } from './override.ts'
export type { PenaltyOptions } from './penalty.ts'
export type { RefundOptions } from './refund.ts'
export type { RequestOptions } from './request.ts'
export type { GateSettlement, ReserveOptions, Settlement, SettleOptions } from './reservation.ts'
export type { Rule, RuleOptions } from './rule.ts'
export {
  type MemoryStore,
  type MemoryStoreOptions,
  type MemoryStoreStats,
  memoryStore,
} from './stores/memory/memory-store.ts'
export type { Store, SyncStore } from './stores/store.ts'
