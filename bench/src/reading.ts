/**
 * Reads what a caller would read of a decision, so that no engine can leave out computing it.
 * The sum is checked at the end, which makes it a result that somebody needs.
 */
let sum = 0

export function read(allowed: boolean, remaining: number, retryAfterMs: number | null): void {
  sum += (allowed ? 1 : 0) + remaining + (retryAfterMs ?? 0)
}

/** @throws Error where a decision had a figure that is no number */
export function checkReadings(): void {
  if (!Number.isFinite(sum)) throw new Error(`the decisions read add up to ${sum}`)
}
