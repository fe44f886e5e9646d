/** A TCP port, 0 for any free one; undefined for any other text. */
export function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= 65535 ? port : undefined
}
