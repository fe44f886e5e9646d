import { administrate, type RedisPart, startServer } from './redis.ts'
import type { ClusterService } from './redis-cluster.ts'
import { freePorts, type Service } from './service.ts'
import { waitFor } from './wait-for.ts'

/** A replica of one of the masters of a cluster, which takes its place when it is gone. */
export async function startReplica(
  { nodes }: ClusterService,
  master: number,
  part: RedisPart = 'redis-server',
): Promise<Service> {
  const [port, bus] = (await freePorts(2)) as [number, number]
  const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-port', String(bus)]
  const service = await startServer(part, [...options, '--repl-diskless-sync-delay', '0'], port)
  const admin = administrate(port)
  const { id, admin: masterAdmin } = nodes[master] as ClusterService['nodes'][number]
  try {
    for (const node of nodes) await node.admin.config('SET', 'cluster-node-timeout', '1000')
    await masterAdmin.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus))
    await waitFor('the replica to be known', async () => {
      await admin.call('CLUSTER', 'REPLICATE', id)
      return true
    })
    await waitFor('the replica to be up to date', async () => {
      const views = await Promise.all(nodes.map(async (node) => String(await node.admin.cluster('NODES'))))
      const isKnown = views.every((view) => view.includes(`:${port}@`))
      return isKnown && (await masterAdmin.info('replication')).includes('state=online')
    })
    return service
  } catch (error) {
    await service.stop('SIGKILL')
    throw error
  } finally {
    admin.disconnect()
  }
}
