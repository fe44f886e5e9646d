/** Half the bits of a count: below 2^16, times a window below 2^35, a product stays below 2^53. */
const HALF = 65_536

/**
 * `count * numerator / denominator`, rounded down, for a count below 2^32 and two numbers below 2^35, of which the product
 * can reach 2^67: long division with two digits of 16 bits, exact in every step.
 */
export function scaledDown(count: number, numerator: number, denominator: number): number {
  const [digit, rest] = divided(count, numerator, denominator)
  return digit * HALF + Math.floor(rest / denominator)
}

/** The same, rounded up. */
export function scaledUp(count: number, numerator: number, denominator: number): number {
  const [digit, rest] = divided(count, numerator, denominator)
  return digit * HALF + Math.ceil(rest / denominator)
}

/** The first digit of the quotient, and what is left to divide for the second. */
function divided(count: number, numerator: number, denominator: number): [digit: number, rest: number] {
  const high = Math.floor(count / HALF)
  const product = high * numerator
  const digit = Math.floor(product / denominator)
  return [digit, (product - digit * denominator) * HALF + (count - high * HALF) * numerator]
}
