import { invalid, TidegateError } from './errors.ts'

/** Returns whole milliseconds since the epoch. */
export type Clock = () => number

/** The machine's own clock. */
export const systemClock: Clock = () => Date.now()

/** The latest time a state can hold: six bytes of milliseconds, the year 10889. */
export const MAX_TIME_MS = 2 ** 48 - 1

/**
 * Refuses what a store cannot reckon with.
 * @throws TidegateError `ERR_INVALID_CLOCK`
 */
export function checkTime(time: number): number {
  if (Number.isInteger(time) && time >= 0 && time <= MAX_TIME_MS) return time
  const expected = 'whole milliseconds since the epoch'
  throw new TidegateError('ERR_INVALID_CLOCK', `clock: expected ${expected}, received ${String(time)}`, {
    field: 'clock',
    expected,
  })
}

/**
 * A clock handed in, with every reading checked.
 * @throws TidegateError `ERR_INVALID_OPTION` when it is no function
 */
export function checkClock(clock: unknown): Clock {
  if (typeof clock !== 'function') {
    throw invalid('ERR_INVALID_OPTION', 'clock', 'a function that returns milliseconds since the epoch', clock)
  }
  return () => checkTime(clock())
}

/** Milliseconds since some time, of a clock that nobody sets: what deadlines are measured by. */
export const monotonicClock: Clock = () => performance.now()

/** A clock as one that never goes back: where it does, that is passed over. */
export function forwards(clock: Clock): Clock {
  let [latest, passed] = [Number.POSITIVE_INFINITY, 0]
  return () => {
    const now = clock()
    if (now > latest) passed += now - latest
    latest = now
    return passed
  }
}
