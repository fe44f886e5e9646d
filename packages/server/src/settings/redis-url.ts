/**
 * The URL of a Redis; `null` for the empty text, undefined for what is none. Query parameters are
 * refused: the client would take them as options of its own, and some would make it count twice.
 */
export function readRedisUrl(text: string): string | null | undefined {
  if (text === '') return null
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text)
  const known = protocol === 'redis:' || protocol === 'rediss:'
  const plain = hostname !== '' && /^(\/\d*)?$/.test(pathname) && search === '' && hash === ''
  return known && plain && isEncoded(username) && isEncoded(password) ? text : undefined
}

/** A Redis URL as it may be logged: without the password. */
export function withoutPassword(url: string): string {
  const shown = new URL(url)
  if (shown.password !== '') shown.password = '***'
  return shown.href
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
