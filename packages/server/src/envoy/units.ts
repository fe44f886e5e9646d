/** The units of envoyproxy/ratelimit, by the numbers of RateLimitResponse.RateLimit.Unit. */
export const units = {
  SECOND: { number: 1, ms: 1000 },
  MINUTE: { number: 2, ms: 60_000 },
  HOUR: { number: 3, ms: 3_600_000 },
  DAY: { number: 4, ms: 86_400_000 },
  WEEK: { number: 7, ms: 7 * 86_400_000 },
  // Fixed lengths, counted from the epoch, as there.
  MONTH: { number: 5, ms: 30 * 86_400_000 },
  YEAR: { number: 6, ms: 365 * 86_400_000 },
} as const

export type Unit = keyof typeof units

export const unitNames = Object.keys(units) as readonly Unit[]

/** The unit with this name, in whichever case; undefined where there is none. */
export function unitNamed(text: string): Unit | undefined {
  return unitNames.find((name) => name === text.toUpperCase())
}

const numbersByMs: ReadonlyMap<number, number> = new Map(unitNames.map((name) => [units[name].ms, units[name].number]))

/** The number in the protocol of the unit that is as long as a window; 0 where none is. */
export function unitNumberOf(windowMs: number | undefined): number {
  return windowMs === undefined ? 0 : (numbersByMs.get(windowMs) ?? 0)
}

/** The unit with this number in the protocol; undefined where there is none. */
export function unitNumbered(number: number): Unit | undefined {
  return unitNames.find((name) => units[name].number === number)
}
