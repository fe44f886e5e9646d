import type { Registry } from 'prom-client'
import { listen } from '../commands/listen.ts'
import type { Addresses, Fleet } from './fleet.ts'

/** A service of one process. */
export function alone(registry: Registry): Fleet {
  return {
    rules: async () => undefined,
    listen,
    listens: printAddresses,
    metrics: () => registry.metrics(),
    shareRules: async () => undefined,
    onRules: () => undefined,
    onReload: () => undefined,
    shareEvent: () => undefined,
    onEvent: () => undefined,
    ended: new Promise(() => undefined),
    unlistened: Promise.resolve(),
    closeConnections: async () => undefined,
    leave: () => undefined,
  }
}

/** Tells people where to ask. */
export function printAddresses({ http, grpc }: Addresses): void {
  if (grpc !== undefined) process.stderr.write(`tidegate: gRPC on ${grpc}\n`)
  process.stderr.write(`tidegate: listening on ${http}\n`)
}
