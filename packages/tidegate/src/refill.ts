import type { Quota } from './quota.ts'

/** How a bucket fills: each ms brings `refillUnits`, of which a token has `tokenUnits`; lowest terms, product below 2^53. */
export type Refill = Pick<Quota, 'refillUnits' | 'tokenUnits'>

/** 142,000 years: only a bucket that is nearly empty when its refill is slowed down by far would need longer. */
const LONGEST_MS = 2 ** 52

/** Ms until so many tokens, and units besides, have come; by periods in which whole tokens come, so that all is exact. */
export function timeFor({ refillUnits, tokenUnits }: Refill, tokens: number, units: number): number {
  const periods = Math.floor(tokens / refillUnits)
  const over = (tokens - periods * refillUnits) * tokenUnits + units
  return Math.min(periods * tokenUnits + Math.ceil(over / refillUnits), LONGEST_MS)
}

/** The fraction of two whole numbers in its lowest terms, by Euclid. */
export function reduced(numerator: number, denominator: number): readonly [number, number] {
  let [a, b] = [numerator, denominator]
  while (b > 0) [a, b] = [b, a % b]
  return [numerator / a, denominator / a]
}
