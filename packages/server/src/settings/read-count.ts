/** A whole number from 1 to 1,000,000; undefined for any other text. */
export function readCount(text: string): number | undefined {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= 1_000_000 ? count : undefined
}
