import { clientAddress, clientOf, UNKNOWN_CLIENT } from './client-address.ts'
import type { RequestReader } from './request-options.ts'
import type { RequestSettings } from './request-settings.ts'
import type { WarnOnce } from './warnings.ts'

const MOST_REMEMBERED = 1000

/** Whom requests are counted for by their address. */
export class ClientKeys<Request> {
  readonly #reader: RequestReader<Request>
  readonly #settings: RequestSettings
  readonly #warn: WarnOnce
  /** The latest addresses read: most clients come more than once, and IPv6 is long to read. */
  readonly #remembered = new Map<string, string>()

  constructor(reader: RequestReader<Request>, settings: RequestSettings, warn: WarnOnce) {
    this.#reader = reader
    this.#settings = settings
    this.#warn = warn
    if (settings.trust?.hops === Number.POSITIVE_INFINITY) warn('TIDEGATE_TRUSTS_EVERYONE')
  }

  /** The client's address, of IPv6 its network; `unknown` where there is none. */
  keyOf(request: Request): string {
    const address = this.#addressOf(request)
    if (address === undefined) {
      if (this.#reader.expectsAddress === true) this.#warn('TIDEGATE_NO_CLIENT_ADDRESS')
      return UNKNOWN_CLIENT
    }
    const known = this.#remembered.get(address)
    if (known !== undefined) return known
    const client = clientOf(address, this.#settings.ipv6Prefix) ?? UNKNOWN_CLIENT
    if (this.#remembered.size >= MOST_REMEMBERED) this.#remembered.clear()
    this.#remembered.set(address, client)
    return client
  }

  #addressOf(request: Request): string | undefined {
    const reader = this.#reader
    const { trust } = this.#settings
    const peer = reader.peer(request)
    const forwarded = reader.header(request, 'x-forwarded-for')
    if (forwarded === undefined) return peer
    if (trust === undefined) return this.#frameworkAddress(request, peer)
    return clientAddress(peer, forwarded, trust)
  }

  /** What the framework was told to believe, which is nobody unless its user said so. */
  #frameworkAddress(request: Request, peer: string | undefined): string | undefined {
    const ip = this.#reader.ip?.(request)
    if (ip === undefined) this.#warn('TIDEGATE_PROXY_UNTRUSTED')
    else if (this.#reader.believesEverybody?.(request) === true) this.#warn('TIDEGATE_TRUSTS_EVERYONE')
    return ip ?? peer
  }
}
