import { type Condition, createGate } from 'tidegate'
import { expect, test } from 'vitest'
import { conditionText } from './condition-text.ts'

const networks = Array.from({ length: 8 }, (_, i) => `10.${i}.0.0/16`)

test.each<[Condition, string]>([
  ['/order', 'x = /order'],
  [['b', 'a'], 'x = a or b'],
  [{ prefix: '/api/' }, 'x begins with /api/'],
  [{ glob: ['/*', '/a/*'] }, 'x like /* or /a/*'],
  [{ cidr: '::1' }, 'x in ::1/128'],
  [{ cidr: networks }, `x in ${networks.slice(0, 5).join(' or ')} or 3 more`],
  [{ not: 'a' }, 'x not = a'],
  [{ not: { cidr: '10.0.0.0/8' } }, 'x not in 10.0.0.0/8'],
])('%j reads %s', (condition, text) => {
  const { rules } = createGate({ rules: [{ name: 'a', match: { x: condition }, limit: 1, window: 1 }] })
  expect(rules[0]?.match.map((one) => conditionText(...one))).toEqual([text])
})
