/**
 * The path of a request target, in one spelling. A gateway and what stands behind it read
 * `/order`, `//order`, `/x/../order`, `/%6Frder` and `/order?a=1` as the same resource; if each were
 * a route of its own, changing the spelling would get around a limit. So, whatever the target:
 *
 * - scheme, authority, query and fragment are dropped;
 * - `%XX` of a character that a path may hold is that character, `/` included; what a path may not
 *   hold (controls, braces, spaces, anything beyond ASCII) is `%XX` with capital digits;
 * - a backslash is a slash, slashes next to each other are one, and then `.` and `..` are resolved
 *   as the URL standard (https://url.spec.whatwg.org) does.
 *
 * Never throws. Equal routes are never told apart; that `a%2Fb` and `a/b` become one is the price.
 * @param target as a header holds it: a character for each byte
 */
export function routeOf(target: string): string {
  const path = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '').replace(/[?#].*$/s, '')
  if (path === '*') return path
  const spelt = path.replace(/%[0-9A-Fa-f]{2}|[^%]|%/gs, respell)
  const merged = `/${spelt}`.replace(/[\\/]+/g, '/')
  return new URL(`http://gateway${merged}`).pathname.replace(/\/{2,}/g, '/')
}

/** RFC 3986 `pchar` without the percent sign, and the separator. */
const IN_PATH = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]$/

function respell(part: string): string {
  if (part === '\\') return part
  const character = part.length === 3 ? String.fromCharCode(Number.parseInt(part.slice(1), 16)) : part
  if (part === '%' || IN_PATH.test(character)) return character
  return [...Buffer.from(character, 'latin1')]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('')
}
