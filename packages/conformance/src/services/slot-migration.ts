import type { ClusterNode } from './redis-cluster.ts'

/**
 * Moves a slot from one node to another by hand, as `redis-cli --cluster reshard` does, key by key.
 * @param between called after each step, in which decisions may run: while the slot has begun to move, after every key
 */
export async function migrateSlot(
  nodes: readonly ClusterNode[],
  slot: number,
  [source, target]: readonly [ClusterNode, ClusterNode],
  between: () => Promise<void> = async () => undefined,
): Promise<void> {
  const setSlot = (node: ClusterNode, state: string, id: string) =>
    node.admin.call('CLUSTER', 'SETSLOT', String(slot), state, id)
  await setSlot(target, 'IMPORTING', source.id)
  await setSlot(source, 'MIGRATING', target.id)
  await between()
  for (;;) {
    const keys = (await source.admin.call('CLUSTER', 'GETKEYSINSLOT', String(slot), '1')) as string[]
    if (keys.length === 0) break
    await source.admin.call('MIGRATE', '127.0.0.1', String(target.port), '', '0', '5000', 'KEYS', ...keys)
    await between()
  }
  // The target first: a slot that nobody owns would be lost with the source.
  await setSlot(target, 'NODE', target.id)
  await setSlot(source, 'NODE', target.id)
  for (const node of nodes) if (node !== source && node !== target) await setSlot(node, 'NODE', target.id)
}
