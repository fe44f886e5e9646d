/** For those who write a store of their own. */
export {
  CALENDAR_UNITS,
  type Calendar,
  type CalendarUnit,
  calendar,
  checkTimeZone,
  type Span,
} from '../algorithms/fixed-window/calendar.ts'
export type { Clock } from '../clock.ts'
export { admitted, type RuleDecision, refused } from '../decision.ts'
export { encodeKey, isKey, joinKey, type Key } from '../key.ts'
export { compileRule, compileRules, type Rule } from '../rule.ts'
export type { Check, Mode, Store, SyncStore } from './store.ts'
