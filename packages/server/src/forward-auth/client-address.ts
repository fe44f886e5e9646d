import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { Trust } from '../settings/trust.ts'
import { clientOf, parseAddress } from './address.ts'

/** What is looked at of a request: its peer, and who the request is said to have come by. */
export interface Hops {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: IncomingHttpHeaders
}

/** What stands for a peer without an address, which a Unix socket is. */
const NO_ADDRESS = 'unknown'

/**
 * The client of a request, as the nearest hop that is not trusted names it: X-Forwarded-For is read
 * from its end for as long as the hops are trusted. Where that ends at something that is no address,
 * the hop that reported it stands for its clients: one count for all, never a new one for each.
 */
export function clientAddress(request: Hops, isTrusted: Trust): string {
  // The peer itself has no address once its connection is gone.
  const hops: readonly (string | undefined)[] = proxyAddr.all(request as unknown as IncomingMessage, (address) =>
    isTrusted(address ?? ''),
  )
  for (const hop of [...hops].reverse()) {
    const address = parseAddress(hop ?? '')
    if (address !== undefined) return clientOf(address)
  }
  return NO_ADDRESS
}
