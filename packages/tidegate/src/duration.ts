import { invalid } from './errors.ts'

/** Milliseconds, or a number with a unit: `'250ms'`, `'1s'`, `'1m'`, `'1h'`, `'7d'`. */
export type Duration = number | string

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const FORM = /^(\d{1,15}) ?(ms|s|m|h|d)$/

/** The longest window: 366 days, in milliseconds. */
export const MAX_WINDOW_MS = 366 * 86_400_000

/**
 * Reads a duration as whole milliseconds.
 * @throws TidegateError `ERR_INVALID_OPTION` when it is no duration, or outside 1 ms to 366 days.
 */
export function parseDuration(value: unknown, field: string): number {
  const ms = typeof value === 'string' ? fromText(value) : value
  if (typeof ms !== 'number' || !Number.isInteger(ms) || ms < 1 || ms > MAX_WINDOW_MS) {
    const expected = "whole milliseconds or a duration such as '250ms', '1s', '1m', '1h', '7d', from 1 ms to 366 days"
    throw invalid('ERR_INVALID_OPTION', field, expected, value)
  }
  return ms
}

function fromText(text: string): number | undefined {
  const [, amount, unit] = FORM.exec(text) ?? []
  return amount === undefined || unit === undefined ? undefined : Number(amount) * (UNITS[unit] ?? Number.NaN)
}
