import type { StoreHealth } from '../../resilience/store-health.ts'

/** Reads the reply to INFO: of a cluster's client it can be that of several nodes, of which the worst counts. */
export function readInfo(reply: unknown): Omit<StoreHealth, 'skewMs'> {
  const nodes = textsOf(reply).map(readOne)
  const shares = nodes.flatMap(({ memoryShare }) => memoryShare ?? [])
  const evicted = nodes.flatMap(({ evictedKeys }) => evictedKeys ?? [])
  const policies = nodes.flatMap(({ evictionPolicy }) => evictionPolicy ?? [])
  return {
    evictionPolicy: policies.find((policy) => policy !== 'noeviction') ?? policies[0],
    evictedKeys: sumOf(evicted),
    memoryBytes: sumOf(nodes.flatMap(({ memoryBytes }) => memoryBytes ?? [])),
    maxMemoryBytes: sumOf(nodes.flatMap(({ maxMemoryBytes }) => maxMemoryBytes ?? [])),
    memoryShare: shares.length === 0 ? undefined : Math.max(...shares),
    isReplica: nodes.length === 1 ? nodes[0]?.isReplica : undefined,
  }
}

function textsOf(reply: unknown): string[] {
  if (typeof reply === 'string') return [reply]
  if (reply instanceof Map) return [...reply.values()].flatMap(textsOf)
  if (Array.isArray(reply)) return reply.flatMap((one: unknown) => textsOf((one as { value?: unknown })?.value ?? one))
  return typeof reply === 'object' && reply !== null ? Object.values(reply).flatMap(textsOf) : []
}

function readOne(text: string): Omit<StoreHealth, 'skewMs'> {
  const fields = new Map(text.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string]))
  const [most, used] = [numberOf(fields.get('maxmemory')), numberOf(fields.get('used_memory'))]
  const role = fields.get('role')
  return {
    evictionPolicy: fields.get('maxmemory_policy'),
    evictedKeys: numberOf(fields.get('evicted_keys')),
    memoryBytes: used,
    maxMemoryBytes: most,
    memoryShare: most === undefined || most === 0 || used === undefined ? undefined : used / most,
    isReplica: role === undefined ? undefined : role === 'slave',
  }
}

function sumOf(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((sum, one) => sum + one, 0)
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
}
