import { expect, test } from 'vitest'
import { readInfo } from './info.ts'

const text = (policy: string, used: number, role = 'master') => {
  const memory = `used_memory:${used}\r\nmaxmemory:1000\r\nmaxmemory_policy:${policy}\r\n`
  return `# Memory\r\n${memory}\r\n# Stats\r\nevicted_keys:7\r\n\r\n# Replication\r\nrole:${role}\r\n`
}

test('of one node', () => {
  expect(readInfo(text('noeviction', 900, 'slave'))).toEqual({
    evictionPolicy: 'noeviction',
    evictedKeys: 7,
    memoryBytes: 900,
    maxMemoryBytes: 1000,
    memoryShare: 0.9,
    isReplica: true,
  })
})

test.each([
  ['an object', { a: text('noeviction', 100), b: text('allkeys-lru', 500) }],
  [
    'a Map',
    new Map([
      ['a', text('noeviction', 100)],
      ['b', text('allkeys-lru', 500)],
    ]),
  ],
  [
    'a list of entries',
    [
      { key: 'a', value: text('noeviction', 100) },
      { key: 'b', value: text('allkeys-lru', 500) },
    ],
  ],
])('of several nodes, as %s, the worst', (_, reply) => {
  const worst = { evictionPolicy: 'allkeys-lru', evictedKeys: 14, memoryShare: 0.5, isReplica: undefined }
  const sums = { memoryBytes: 600, maxMemoryBytes: 2000 }
  expect(readInfo(reply)).toEqual({ ...worst, ...sums })
})

test.each([
  ['nothing', ''],
  ['another reply', 5],
  ['none', null],
])('%s tells nothing', (_, reply) => {
  const nothing = { evictionPolicy: undefined, evictedKeys: undefined, memoryShare: undefined, isReplica: undefined }
  expect(readInfo(reply)).toEqual(nothing)
})

test('without a limit there is no share of it', () => {
  expect(readInfo('maxmemory:0\r\nused_memory:5')).toEqual({ memoryBytes: 5, maxMemoryBytes: 0 })
})
