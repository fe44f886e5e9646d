import type { StatsdAddress } from '../metrics/statsd-counters.ts'

/** `host:port`; `null` for the empty text, undefined for what is none. */
export function readStatsd(text: string): StatsdAddress | null | undefined {
  if (text === '') return null
  const [, host, digits] = /^([A-Za-z0-9._-]+):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  return host !== undefined && port > 0 && port <= 65535 ? { host, port } : undefined
}
