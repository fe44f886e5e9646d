import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Cluster } from 'ioredis'
import { createGate, type RuleOptions } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { describe, expect, test } from 'vitest'
import { type ClusterReport, contendedRules, VALUES } from './cluster-contender.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { startRedisCluster } from './services/redis-cluster.ts'

const CONTENDER = join(import.meta.dirname, '../dist/cluster-contender.js')
const run = promisify(execFile)
const skipped = findPart('redis-server') === undefined

// The kind of fault: a charge is taken slot by slot, and a refusal by the last leaves the others charged, or over the limit.
describe.skipIf(skipped)(`compensated requests ${skipped ? howToInstall('redis-server') : ''}`, () => {
  test('8 processes on rules of every algorithm in different slots: never over the limit, and after quiet no charge of a refused request', {
    timeout: 90_000,
  }, async () => {
    const cluster = await startRedisCluster()
    try {
      const ports = cluster.nodes.map(({ port }) => String(port))
      const outputs = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          run(process.execPath, [CONTENDER, String(i), '6000', ...ports], { maxBuffer: 2 ** 28 }),
        ),
      )
      const reports = outputs.map(({ stdout }) => JSON.parse(stdout) as ClusterReport)
      expect(reports.flatMap(({ failures }) => failures)).toEqual([])
      const admitted = reports.flatMap((report) => report.admitted)
      expect(reports.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(200)
      // The refusals of those that were told so before they charged anything are no test of this.
      expect(reports.reduce((sum, { givenBack }) => sum + givenBack, 0)).toBeGreaterThan(20)

      const nodes = ports.map((port) => ({ host: '127.0.0.1', port: Number(port) }))
      const client = new Cluster(nodes, { redisOptions: { autoResendUnfulfilledCommands: false } })
      let full = 0
      for (const rule of contendedRules) {
        for (const { descriptor, sum } of sumsOf(rule, admitted)) {
          const gate = createGate({ rules: [rule], store: redisStore(client, { guarded: false }) })
          const { used, limit } = await gate.peek(descriptor, { cost: 0 })
          const where = `${rule.name} ${JSON.stringify(descriptor)}`
          expect(sum, where).toBeLessThanOrEqual(limit)
          expect(used, where).toBe(sum)
          if (sum > limit - 3) full++
        }
      }
      // There was something to contend for.
      expect(full).toBeGreaterThan(0)
      client.disconnect()
    } finally {
      await cluster.stop()
    }
  })
})

/** What was admitted of each counter of a rule. */
function sumsOf({ key = [] }: RuleOptions, admitted: ClusterReport['admitted']) {
  const [dimension] = key
  const values =
    dimension === undefined ? [undefined] : Array.from({ length: VALUES[dimension] ?? 0 }, (_, i) => `${i}`)
  return values.map((value) => {
    const descriptor = dimension === undefined ? {} : { [dimension]: value as string }
    const mine = admitted.filter((one) => dimension === undefined || one.descriptor[dimension] === value)
    return { descriptor, sum: mine.reduce((total, { cost }) => total + cost, 0) }
  })
}
