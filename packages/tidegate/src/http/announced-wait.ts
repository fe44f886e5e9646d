/** The reset of older headers is seconds since the epoch from here on, and seconds from now below. */
const LEAST_EPOCH_SECONDS = 1_000_000_000

/**
 * How long a service asks its clients to wait, by the headers of an answer: `Retry-After` (RFC 9110), and where nothing
 * is left the reset of `RateLimit` in the form of any draft, or of `X-RateLimit-*`. Ms; 0 where it asks for no wait.
 *
 * @param now milliseconds since the epoch
 */
export function announcedWaitMs(headers: Headers, now: number): number {
  return Math.max(
    retryAfterMs(headers.get('retry-after'), now),
    listedMs(headers.get('ratelimit')),
    usedUpMs(headers, 'ratelimit', now),
    usedUpMs(headers, 'x-ratelimit', now),
  )
}

function retryAfterMs(value: string | null, now: number): number {
  if (value === null) return 0
  if (/^\s*\d{1,10}\s*$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}

/** `"burst";r=0;t=30, "daily";r=9`, or as draft 7 has it `limit=100, remaining=0, reset=30`. */
function listedMs(value: string | null): number {
  if (value === null) return 0
  const older = /(?:^|[,\s])remaining=0(?:\D|$)/.test(value) ? /(?:^|[,\s])reset=(\d{1,10})/.exec(value) : null
  if (older !== null) return Number(older[1]) * 1000
  const waits = value.split(',').map((item) => {
    const [, seconds] = /;\s*r=0(?:\s*;|\s*$)/.test(item) ? (/;\s*t=(\d{1,10})/.exec(item) ?? []) : []
    return seconds === undefined ? 0 : Number(seconds) * 1000
  })
  return Math.max(0, ...waits)
}

function usedUpMs(headers: Headers, prefix: string, now: number): number {
  if (headers.get(`${prefix}-remaining`)?.trim() !== '0') return 0
  const reset = Number(headers.get(`${prefix}-reset`) ?? 0)
  if (!(reset > 0)) return 0
  return reset >= LEAST_EPOCH_SECONDS ? Math.max(0, reset * 1000 - now) : reset * 1000
}
