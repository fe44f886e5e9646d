import proxyAddr from '@fastify/proxy-addr'
import { parseAddress } from '../forward-auth/address.ts'

/** Whether the peer with this address is a gateway that is believed. */
export type Trust = (address: string) => boolean

/** Believes the listed addresses and ranges, and nobody where the list is empty; undefined where it is no such list. */
export function readTrust(text: string): Trust | undefined {
  const entries = text.split(',').map((entry) => entry.trim())
  if (text.trim() === '') return () => false
  const isTrusted = compile(entries)
  if (isTrusted === undefined) return undefined
  return (address) => {
    const parsed = parseAddress(address)
    return parsed !== undefined && isTrusted(parsed, 0)
  }
}

function compile(entries: string[]): ReturnType<typeof proxyAddr.compile> | undefined {
  try {
    return proxyAddr.compile(entries)
  } catch {
    return undefined
  }
}
