import { invalid } from '../errors.ts'

/** Local time less UTC at a time in ms since the epoch: milliseconds, whole seconds of them, positive in the east. */
export type Offset = (time: number) => number

const SECOND = 1000

/** By the zone's own name, of which there are some hundreds: a formatter is too large for every rule to have one. */
const offsets = new Map<string, Offset>()

/**
 * Checks the name of a zone, and gives it as this runtime spells it. Letters may be large or small, and
 * what an old name becomes differs between runtimes (`EST5EDT` is `America/New_York` to some), so that
 * the result is for showing and for `calendar`: what has to be equal everywhere needs the name as written.
 * Offsets such as `+01:00` are refused, because only some runtimes know them: `Etc/GMT-1` is known to all.
 * @throws TidegateError `ERR_INVALID_OPTION` when this runtime knows no such zone.
 */
export function checkTimeZone(value: unknown, field: string): string {
  if (typeof value === 'string' && /^[A-Za-z]/.test(value)) {
    try {
      return new Intl.DateTimeFormat('en-US', { timeZone: value }).resolvedOptions().timeZone
    } catch {
      // Not known: the error below says where and what.
    }
  }
  throw invalid('ERR_INVALID_OPTION', field, "an IANA time zone such as 'Europe/Berlin' or 'UTC'", value)
}

/**
 * The offsets of a zone, from the runtime's copy of the IANA time zone database. Right to the second,
 * as zones that kept local mean time need (Africa/Monrovia, -0:44:30 until 1972).
 * @throws TidegateError `ERR_INVALID_OPTION` when this runtime knows no such zone.
 */
export function offsetIn(timeZone: string): Offset {
  const known = offsets.get(timeZone)
  if (known !== undefined) return known
  const name = checkTimeZone(timeZone, 'timeZone')
  const offset = offsets.get(name) ?? readOffset(name)
  offsets.set(name, offset)
  return offset
}

function readOffset(timeZone: string): Offset {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    // With `hour12: false` midnight is 24:00 in some runtimes.
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (time) => {
    const second = Math.floor(time / SECOND) * SECOND
    // By name: the order and the signs between are the locale's, and have changed.
    const parts = new Map(format.formatToParts(second).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? Number.NaN
    const day = Date.UTC(part('year'), part('month') - 1, part('day'))
    return day + ((part('hour') * 60 + part('minute')) * 60 + part('second')) * SECOND - second
  }
}

/**
 * The first whole second in (after, until] at which something holds that does not at `after`, does at
 * `until`, and begins once between them: offsets change at whole seconds. All in ms since the epoch.
 */
export function firstSecond(after: number, until: number, holds: (time: number) => boolean): number {
  let low = Math.floor(after / SECOND)
  let high = Math.floor(until / SECOND)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle * SECOND)) high = middle
    else low = middle
  }
  return high * SECOND
}
