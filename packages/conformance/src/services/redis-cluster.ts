import type { Redis } from 'ioredis'
import { administrate, type RedisPart, startServer } from './redis.ts'
import { freePorts, type Service } from './service.ts'
import { waitFor } from './wait-for.ts'

/** A node of a cluster, and a connection to it that follows no redirection. */
export interface ClusterNode {
  readonly id: string
  readonly port: number
  /** The first of the slots that it owns from the start. */
  readonly firstSlot: number
  readonly admin: Redis
  readonly service: Service
}

export interface ClusterService {
  readonly nodes: readonly ClusterNode[]
  /** Empties every node. */
  flush(): Promise<void>
  /** How many error replies with the code, such as `MOVED`, all nodes have given so far. */
  errorReplies(code: string): Promise<number>
  stop(): Promise<void>
}

const SLOTS = 16384
const HOST = '127.0.0.1'

/** Three masters on loopback without replicas, the slots in equal shares, ready to serve. */
export async function startRedisCluster(part: RedisPart = 'redis-server'): Promise<ClusterService> {
  // The bus is at the port + 10,000 unless another is given, and that may not exist.
  const ports = await freePorts(6)
  const buses = ports.splice(3)
  const nodes: ClusterNode[] = []
  const stop = async () => {
    for (const { admin } of nodes) admin.disconnect()
    await Promise.all(nodes.map(({ service }) => service.stop('SIGKILL')))
  }
  try {
    for (const [i, port] of ports.entries()) {
      nodes.push(await startNode(part, port, buses[i] as number, Math.floor((i * SLOTS) / ports.length)))
    }
    await join(nodes, buses)
  } catch (error) {
    await stop()
    throw error
  }
  const flush = async () => void (await Promise.all(nodes.map(({ admin }) => admin.flushall())))
  const errorReplies = async (code: string) => {
    const replies = await Promise.all(nodes.map(({ admin }) => admin.info('errorstats')))
    const count = new RegExp(`errorstat_${code}:count=(\\d+)`)
    return replies.reduce((sum, text) => sum + Number(count.exec(text)?.[1] ?? 0), 0)
  }
  return { nodes, flush, errorReplies, stop }
}

async function startNode(part: RedisPart, port: number, bus: number, firstSlot: number): Promise<ClusterNode> {
  const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '5000', '--cluster-port', String(bus)]
  const service = await startServer(part, options, port)
  const admin = administrate(port)
  return { id: String(await admin.cluster('MYID')), port, firstSlot, admin, service }
}

async function join(nodes: readonly ClusterNode[], buses: readonly number[]): Promise<void> {
  for (const [i, { admin, port, firstSlot }] of nodes.entries()) {
    const last = (nodes[i + 1]?.firstSlot ?? SLOTS) - 1
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(firstSlot), String(last))
    // Epochs that differ from the start, so that the nodes have nothing to settle among them.
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1))
    await nodes[0]?.admin.call('CLUSTER', 'MEET', HOST, String(port), String(buses[i]))
  }
  for (const { admin } of nodes) {
    await waitFor('the cluster', async () => {
      const info = String(await admin.cluster('INFO'))
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`)
    })
  }
}
