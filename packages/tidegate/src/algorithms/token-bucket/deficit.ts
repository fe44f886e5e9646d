import { type Refill, timeFor } from '../../refill.ts'

/**
 * What is missing from a full bucket, or comes in: whole tokens, and a remainder below `tokenUnits`, of which a token has that many.
 * Every ms brings `refillUnits`. Products of a remainder or a ms below one period with either are below 2^53
 * (limit.ts refuses other rates), so that each step here is exact; the quotient of two such numbers, rounded down or
 * up, is too.
 */
export interface Deficit {
  readonly whole: number
  readonly rest: number
}

/** The tokens in a deficit, those begun included. */
export function tokensIn(whole: number, rest: number): number {
  return rest > 0 ? whole + 1 : whole
}

/** What comes in so many ms. */
export function refilledIn({ refillUnits, tokenUnits }: Refill, elapsedMs: number): Deficit {
  const over = elapsedMs % tokenUnits
  const units = over * refillUnits
  const whole = ((elapsedMs - over) / tokenUnits) * refillUnits + Math.floor(units / tokenUnits)
  return { whole, rest: units % tokenUnits }
}

/** What is left of a deficit after so many ms; undefined where nothing is. */
export function deficitAfter(refill: Refill, whole: number, rest: number, elapsedMs: number): Deficit | undefined {
  if (elapsedMs >= timeFor(refill, whole, rest)) return undefined
  const come = refilledIn(refill, elapsedMs)
  const [left, leftRest] = [whole - come.whole, rest - come.rest]
  return leftRest < 0 ? { whole: left - 1, rest: leftRest + refill.tokenUnits } : { whole: left, rest: leftRest }
}
