import cluster from 'node:cluster'
import type { Socket } from 'node:net'
import type { Registry } from 'prom-client'
import type { RuleOptions } from 'tidegate'
import type { ServiceEvent } from '../events/service-event.ts'
import { Channel } from './channel.ts'
import { Connections } from './connections.ts'
import type { Fleet } from './fleet.ts'

/** What a worker that begins is told. */
export interface Welcome {
  readonly rules: RuleOptions[] | undefined
  /** Where the primary listens. */
  readonly http: string
}

/** One of several processes, which the primary has started. */
export function worker(registry: Registry): Fleet {
  const channel = new Channel((message) => {
    // Its primary can be gone; then this process ends as well.
    if (process.connected) process.send?.(message)
  })
  let connections: Connections | undefined
  process.on('message', (message, socket) => {
    if (message !== CONNECTION) channel.receive(message)
    // It can have been closed on its way.
    else if (socket !== undefined) connections?.take(socket as Socket)
  })
  // A process that cannot serve ends, whoever would still listen to it.
  process.channel?.unref()
  channel.handle('measure', () => registry.getMetricsAsJSON())
  const ended = new Promise<string>((resolve) => channel.handle('drain', (signal) => resolve(signal as string)))
  const unlistened = new Promise<void>((resolve) => channel.handle('unlistened', () => resolve()))
  const welcome = channel.ask('hello') as Promise<Welcome>
  return {
    rules: async () => (await welcome).rules,
    listen: async (service) => {
      await service.ready()
      connections = new Connections(service.server)
      return (await welcome).http
    },
    listens: (addresses) => channel.tell('listens', addresses),
    metrics: async () => (await channel.ask('metrics')) as string,
    shareRules: async (rules) => void (await channel.ask('share-rules', rules)),
    onRules: (listener) => channel.handle('rules', (rules) => listener(rules as RuleOptions[])),
    onReload: (listener) => channel.handle('reload', listener),
    shareEvent: (event) => channel.tell('share-event', event),
    onEvent: (listener) => channel.handle('event', (event) => listener(event as ServiceEvent)),
    ended,
    unlistened,
    closeConnections: async (patienceMs) => connections?.close(patienceMs),
    leave: () => cluster.worker?.disconnect(),
  }
}

/** What stands beside a connection that is handed over. */
export const CONNECTION = 'tidegate:connection'
