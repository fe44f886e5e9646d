/** For those who write a store of their own. */
export type { Admission, Entry } from '../admission.ts'
export { ALIGNMENTS } from '../alignment.ts'
export {
  CALENDAR_UNITS,
  type Calendar,
  type CalendarUnit,
  calendar,
  checkTimeZone,
} from '../calendar/calendar.ts'
export type { Clock } from '../clock.ts'
export { admitted, type RuleDecision, refused } from '../decision.ts'
export { keyOf } from '../descriptor.ts'
export { encodeKey, isKey, joinKey, type Key } from '../key.ts'
export type { LeaseState, LeasingStore } from '../leases/lease-state.ts'
export { ALGORITHM_SPELLINGS } from '../limit.ts'
export { asksNoMoreThan } from '../matching/match.ts'
export { overrideFields, overrideShape } from '../override.ts'
export type { Quota, Span, Windows } from '../quota.ts'
export type { Settlement } from '../reservation.ts'
export type { GuardOptions } from '../resilience/guard-options.ts'
export type { GuardedStore, GuardState } from '../resilience/guard-state.ts'
export { guard } from '../resilience/guarded-store.ts'
export type { StoreHealth } from '../resilience/store-health.ts'
export { compileRule, compileRules, type Rule } from '../rule.ts'
export { shardKey, shardOfId } from '../sharding/routes.ts'
export { type ApartRules, apartInCluster } from '../slots.ts'
export type { Check, Mode, Reserve, Store, SyncStore } from './store.ts'
