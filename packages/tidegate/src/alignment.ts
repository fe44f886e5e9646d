import { CALENDAR_UNITS, type CalendarUnit, calendar, checkTimeZone } from './calendar/calendar.ts'
import { type Duration, parseDuration } from './duration.ts'
import { invalid } from './errors.ts'
import type { Windows } from './quota.ts'

/** Where the windows of a fixed window begin: at multiples of their length, at the first admission, or with the calendar. */
export const ALIGNMENTS = ['epoch', 'first-hit', ...CALENDAR_UNITS] as const
export type Alignment = (typeof ALIGNMENTS)[number]

/** How the windows of a fixed window lie in time. */
export interface AlignmentOptions {
  /** The window: milliseconds or `'1s'`, `'1h'`, `'7d'`; from 1 ms to 366 days. A quota and a calendar's unit have none. */
  window?: Duration
  /**
   * Fixed window: `epoch`: windows begin at multiples of `window` since the epoch. `first-hit`: at the first admission
   * after the last one has ended. A unit: with the calendar in `timeZone`, weeks on Monday. Default: `epoch`.
   */
  align?: Alignment
  /** The zone of a calendar's unit, by its IANA name, such as `Europe/Berlin`. Default: `UTC`. */
  timeZone?: string
}

/** An alignment that has been checked. Durations in ms. */
export interface CompiledAlignment {
  /** 0 for a calendar, whose windows differ in length. */
  readonly windowMs: number
  /** No window is longer. */
  readonly spanMs: number
  /** undefined where the first hit begins one. */
  readonly windows: Windows | undefined
  /** The name of a zone as it was written: what it stands for differs between copies of the time zone database. */
  readonly shape: readonly (string | number)[]
}

const DAY = 86_400_000

/**
 * What no window of a unit exceeds. Minutes and hours are only ever cut short. A longer one lasts as many hours more as
 * the clock is set back in it: offsets go from -12 to +14 hours, so that even a date repeated at the date line adds 26.
 */
const LONGEST: Record<CalendarUnit, number> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 3 * DAY,
  week: 9 * DAY,
  month: 33 * DAY,
  year: 368 * DAY,
}

/**
 * Checks the fields of a fixed window.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function compileAlignment(fields: Record<string, unknown>, prefix: string): CompiledAlignment {
  const align = alignmentOf(fields['align'], `${prefix}align`)
  const { window, timeZone } = fields
  if (align === 'epoch' || align === 'first-hit') {
    if (timeZone !== undefined) {
      const expected = `none with align: '${align}': a zone belongs to a unit of the calendar (${CALENDAR_UNITS.join(', ')})`
      throw invalid('ERR_INVALID_OPTION', `${prefix}timeZone`, expected, timeZone)
    }
    const windowMs = parseDuration(window, `${prefix}window`)
    const windows = align === 'epoch' ? epochWindows(windowMs) : undefined
    return { windowMs, spanMs: windowMs, windows, shape: [windowMs, align, ''] }
  }
  if (window !== undefined) {
    const expected = `none with align: '${align}', which is the window`
    throw invalid('ERR_INVALID_OPTION', `${prefix}window`, expected, window)
  }
  const zone = timeZone === undefined ? 'UTC' : timeZone
  const windows = calendar(align, checkTimeZone(zone, `${prefix}timeZone`))
  return { windowMs: 0, spanMs: LONGEST[align], windows, shape: [0, align, zone as string] }
}

/** Windows that begin at multiples of their length. */
function epochWindows(windowMs: number): Windows {
  return {
    at(time) {
      const start = time - (time % windowMs)
      return { start, end: start + windowMs }
    },
  }
}

function alignmentOf(value: unknown, field: string): Alignment {
  if (value === undefined) return 'epoch'
  const found = ALIGNMENTS.find((one) => one === value)
  if (found !== undefined) return found
  throw invalid('ERR_INVALID_OPTION', field, `one of ${ALIGNMENTS.join(', ')}`, value)
}
