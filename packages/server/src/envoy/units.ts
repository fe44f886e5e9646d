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

/** The unit with this number in the protocol; undefined where there is none. */
export function unitNumbered(number: number): Unit | undefined {
  return unitNames.find((name) => units[name].number === number)
}
