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
export { encodeKey, isKey, joinKey, type Key } from '../key.ts'
export { ALGORITHM_SPELLINGS } from '../limit.ts'
export type { Quota, Span, Windows } from '../quota.ts'
export { compileRule, compileRules, type Rule } from '../rule.ts'
export { type ApartRules, apartInCluster } from '../slots.ts'
export type { Check, Mode, Store, SyncStore } from './store.ts'
