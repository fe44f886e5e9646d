/** The likely mistakes that are warned about. docs/help has a page for each. */
export const httpWarnings = {
  TIDEGATE_PROXY_UNTRUSTED:
    'a request has X-Forwarded-For, but no proxy is trusted: behind a proxy all clients count as one. Set trustProxy',
  TIDEGATE_TRUSTS_EVERYONE:
    'trustProxy believes everybody: a client can choose the address that it is counted by. Name the proxies, or how many there are',
  TIDEGATE_COUNTED_TWICE:
    'the same request was counted twice by the same limit: the middleware is in its path more than once, or two limits share a name and a store',
  TIDEGATE_NO_CLIENT_ADDRESS:
    'a request came without the address of its client: all such count as one. Give keyGenerator or address',
} as const

export type HttpWarningCode = keyof typeof httpWarnings

/** A mistake that is likely to be one. */
export interface HttpWarning {
  readonly code: HttpWarningCode
  readonly message: string
}

/**
 * Who is told: a function, once for each code and limiter; `false` nobody. Default: Node's `process.emitWarning`, or the
 * console where there is none, once for each code and process.
 */
export type Warn = false | ((warning: HttpWarning) => void)

/** Tells of a mistake. Further times do nothing. */
export type WarnOnce = (code: HttpWarningCode) => void

declare const process: { emitWarning?: (text: string, options: { type: string; code: string }) => void } | undefined
declare const console: { warn: (text: string) => void }

const NOBODY: WarnOnce = () => undefined
const toldProcess = new Set<HttpWarningCode>()

/** Who tells of the mistakes of one limiter. */
export function warnOnceBy(warn: Warn | undefined): WarnOnce {
  if (warn === false) return NOBODY
  const told = warn === undefined ? toldProcess : new Set<HttpWarningCode>()
  return (code) => {
    if (told.has(code)) return
    told.add(code)
    const message = `${httpWarnings[code]}. See docs/help/${code}.md`
    if (warn !== undefined) warn({ code, message })
    else emit(code, message)
  }
}

function emit(code: HttpWarningCode, message: string): void {
  if (typeof process === 'object' && process.emitWarning !== undefined) {
    process.emitWarning(message, { type: 'TidegateWarning', code })
  } else console.warn(`${code}: ${message}`)
}
