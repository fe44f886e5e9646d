/** For those who write a store of their own. */
export type { Admission, Entry } from '../admission.ts'
export {
  CALENDAR_UNITS,
  type Calendar,
  type CalendarUnit,
  calendar,
  checkTimeZone,
} from '../calendar/calendar.ts'
export type { Clock } from '../clock.ts'
export { admitted, type RuleDecision, refused } from '../decision.ts'
export { encodeKey, isKey, joinKey, type Key } from '../key.ts'
export type { Quota, Span, Windows } from '../quota.ts'
export type { GuardOptions } from '../resilience/guard-options.ts'
export { type GuardedStore, type GuardState, guard } from '../resilience/guarded-store.ts'
export type { StoreHealth } from '../resilience/store-health.ts'
export { compileRule, compileRules, type Rule } from '../rule.ts'
export type { Check, Mode, Store, SyncStore } from './store.ts'
