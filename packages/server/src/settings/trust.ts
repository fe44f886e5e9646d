import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import { parseAddress } from '../forward-auth/address.ts'

/** Whether the peer with this address is a gateway that is believed. */
export type Trust = (address: string) => boolean

/** Names of ranges that a list can have in their stead. */
const NAMED = ['loopback', 'linklocal', 'uniquelocal']

/**
 * Believes the listed addresses and ranges, and nobody where the list is empty; undefined where it is no such list.
 * Everybody (`/0`) cannot be believed: the client itself would be, and would choose its address.
 */
export function readTrust(text: string): Trust | undefined {
  if (text.trim() === '') return () => false
  const entries = text.split(',').map((entry) => entry.trim())
  if (!entries.every(isEntry)) return undefined
  const isTrusted = proxyAddr.compile(entries)
  return (address) => {
    const parsed = parseAddress(address)
    return parsed !== undefined && isTrusted(parsed, 0)
  }
}

/** Strict: proxy-addr also takes netmasks, `1` for 0.0.0.1 and `010.0.0.1` for 8.0.0.1. */
function isEntry(entry: string): boolean {
  if (NAMED.includes(entry)) return true
  const [, address = '', bits] = /^([0-9A-Fa-f.:]+)(?:\/([1-9]\d{0,2}))?$/.exec(entry) ?? []
  const version = isIP(address)
  return version !== 0 && Number(bits ?? 1) <= (version === 4 ? 32 : 128)
}
