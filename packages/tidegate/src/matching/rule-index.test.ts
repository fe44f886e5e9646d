import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createGate } from '../gate.ts'
import { type Condition, compileCondition } from './condition.ts'
import { excludeEachOther } from './exclusion.ts'
import { canMeetBoth, compileMatch, matches } from './match.ts'
import { RuleIndex } from './rule-index.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), minLength: 1, maxLength: 4 })
const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '?'), minLength: 1, maxLength: 5 })
const network = fc.constantFrom(
  '10.0.0.0/8',
  '10.1.0.0/16',
  '10.1.2.3',
  '0.0.0.0/0',
  '::/0',
  '2001:db8::/32',
  '2001:db8::/64',
  '::1',
)
const value = fc.oneof(
  text,
  fc.constantFrom('10.1.2.3', '10.9.9.9', '::ffff:10.1.9.9', '11.1.1.1', '2001:db8::/64', '2001:db8:1::1', '::1'),
)

const some = (one: fc.Arbitrary<string>) => fc.oneof(one, fc.array(one, { minLength: 1, maxLength: 3 }))
const plain = fc.oneof(
  { weight: 3, arbitrary: some(text) },
  some(text).map((prefix) => ({ prefix })),
  some(pattern).map((glob) => ({ glob })),
  some(network).map((cidr) => ({ cidr })),
)
const condition: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 5, arbitrary: plain },
  plain.map((not) => ({ not })),
)
const dimension = fc.constantFrom('route', 'ip', '__proto__', 'toString')
const match = fc.dictionary(dimension, condition, { maxKeys: 3 }).map((wanted) => compileMatch(wanted, 'match'))
const descriptor = fc.dictionary(dimension, value, { maxKeys: 4 })

describe('the index of rules', () => {
  test('gives what asking one rule after the other gives, in the order of the rules', () => {
    fc.assert(
      fc.property(
        fc.array(match, { maxLength: 12 }),
        fc.array(descriptor, { minLength: 1, maxLength: 4 }),
        (matchesOf, requests) => {
          const rules = matchesOf.map((wanted, place) => ({ match: wanted, place }))
          const index = new RuleIndex(rules)
          const found = requests.map((request) => index.matching(request).map(({ place }) => place))
          const asked = requests.map((request) =>
            rules.filter((rule) => matches(rule.match, request)).map(({ place }) => place),
          )
          expect(found).toEqual(asked)
          expect(requests.map((request) => index.first(request)?.place)).toEqual(asked.map(([first]) => first))
        },
      ),
      { numRuns: 1500 },
    )
  })

  test('asks few of a thousand rules, whatever they are found by', () => {
    const ways: [string, (i: number) => Record<string, Condition>, Record<string, string>, number][] = [
      ['a value', (i) => ({ method: 'GET', route: `/r${i}` }), { method: 'GET', route: '/r500' }, 1],
      [
        'any of a list',
        (i) => ({ route: [`/r${i}`, `/s${i}`], method: ['GET', 'PUT'] }),
        { method: 'GET', route: '/s500' },
        1,
      ],
      ['a prefix', (i) => ({ method: 'GET', route: { prefix: `/r${i}/` } }), { method: 'GET', route: '/r500/a' }, 1],
      ['a glob', (i) => ({ route: { glob: `/r${i}/*` } }), { route: '/r500/a' }, 1],
      ['a network', (i) => ({ ip: { cidr: `10.${i >> 8}.${i & 255}.0/24` } }), { ip: '10.1.2.3' }, 1],
      ['beside a negation', (i) => ({ user: { not: 'root' }, route: `/r${i}` }), { route: '/r500' }, 1],
      ['nothing that a request has', (i) => ({ route: `/r${i}` }), { user: 'u' }, 0],
    ]
    for (const [way, wanted, request, expected] of ways) {
      let asked = 0
      const rules = Array.from({ length: 1000 }, (_, i) => {
        const counted = compileMatch(wanted(i), 'match').map(([name, { matches: meets, ...rest }]) => {
          const count = (value: string | undefined) => {
            asked++
            return meets(value)
          }
          return [name, { ...rest, matches: count }] as const
        })
        return { match: counted as ReturnType<typeof compileMatch> }
      })
      const index = new RuleIndex(rules)
      expect(index.matching(request), way).toHaveLength(expected)
      expect(asked, way).toBeLessThanOrEqual(2)
    }
  })

  test('is not changed by what becomes of the rules it was given', () => {
    const rules = [{ match: compileMatch({ route: '/a' }, 'match') }]
    const index = new RuleIndex(rules)
    rules.length = 0
    expect(index.matching({ route: '/a' })).toHaveLength(1)
  })
})

describe('two conditions', () => {
  test('that exclude each other are never met by one value', () => {
    fc.assert(
      fc.property(condition, condition, fc.option(value, { nil: undefined }), (one, other, met) => {
        const [first, second] = [compileCondition(one, 'one'), compileCondition(other, 'other')]
        const excluded = excludeEachOther(first, second)
        return excluded === excludeEachOther(second, first) && !(excluded && first.matches(met) && second.matches(met))
      }),
      { numRuns: 5000 },
    )
  })

  const excluding: [Condition, Condition, boolean][] = [
    ['a', 'b', true],
    ['a', ['a', 'b'], false],
    [['a', 'b'], ['c', 'd'], true],
    ['/b', { prefix: '/a' }, true],
    ['/ab', { prefix: '/a' }, false],
    ['/a', { glob: '/?' }, false],
    ['/a/', { glob: '/?' }, true],
    ['10.1.2.3', { cidr: '10.0.0.0/8' }, false],
    ['x', { cidr: '10.0.0.0/8' }, true],
    ['a', { not: 'a' }, true],
    ['a', { not: 'b' }, false],
    [['a', 'b'], { not: ['a', 'b', 'c'] }, true],
    [{ prefix: '/a' }, { prefix: ['/b', '/c'] }, true],
    [{ prefix: '/a' }, { prefix: ['/b', '/a/c'] }, false],
    [{ prefix: '/a' }, { glob: '/b*' }, true],
    [{ prefix: '/a' }, { glob: '/a*' }, false],
    [{ prefix: '/a' }, { glob: '*' }, false],
    [{ prefix: '/a/b' }, { not: { prefix: '/a' } }, true],
    [{ prefix: '/a' }, { not: { prefix: '/a/b' } }, false],
    [{ glob: '/a/*' }, { not: { prefix: '/a' } }, true],
    [{ glob: '/a/*' }, { not: { glob: '/a/*' } }, true],
    [{ glob: '/a/b/*' }, { not: { glob: '/a/*' } }, false],
    [{ cidr: '10.0.0.0/8' }, { cidr: '11.0.0.0/8' }, true],
    [{ cidr: '10.0.0.0/8' }, { cidr: '10.1.0.0/16' }, false],
    [{ cidr: '10.1.0.0/16' }, { not: { cidr: '10.0.0.0/8' } }, true],
    [{ cidr: '10.0.0.0/8' }, { prefix: '10.' }, false],
    [{ not: 'a' }, { not: 'b' }, false],
    [{ not: { glob: '**' } }, 'a', true],
    [{ not: { glob: '**' } }, { not: 'a' }, false],
  ]
  test.each(excluding)('%j and %j: %s', (one, other, expected) => {
    expect(excludeEachOther(compileCondition(one, 'one'), compileCondition(other, 'other'))).toBe(expected)
  })

  test('on different dimensions exclude nothing', () => {
    expect(canMeetBoth(compileMatch({ a: 'x' }, 'm'), compileMatch({ b: 'y' }, 'm'))).toBe(true)
    expect(canMeetBoth(compileMatch({ a: 'x', b: 'x' }, 'm'), compileMatch({ b: 'y' }, 'm'))).toBe(false)
  })
})

describe('a gate', () => {
  const rule = (name: string, wanted?: Record<string, Condition>, key: string[] = []) => {
    return { name, key, limit: 10, window: 1000, ...(wanted && { match: wanted }) }
  }
  const gate = createGate({
    rules: [
      rule('internal', { ip: { cidr: ['10.0.0.0/8', '2001:db8::/32'] } }),
      rule('everybody'),
      rule('orders', { route: '/order' }),
      rule('not internal', { ip: { not: { cidr: '10.0.0.0/8' } } }),
      rule('users', { route: { glob: '/users/*/orders' } }, ['user']),
      rule('api', { route: { prefix: ['/order', '/api/'] } }),
      rule('reads', { method: ['GET', 'HEAD'] }),
    ].map((one) => ({ ...one, name: one.name.replace(' ', '-') })),
  })
  const matching = (request: Record<string, string>) => gate.limitSync(request).rules.map(({ rule: name }) => name)

  test('decides by the rules that match, in their order', () => {
    expect(matching({ route: '/order', ip: '10.1.2.3', method: 'GET' })).toEqual([
      'internal',
      'everybody',
      'orders',
      'api',
      'reads',
    ])
    expect(matching({ route: '/', ip: '2001:db8::/64' })).toEqual(['internal', 'everybody', 'not-internal'])
    expect(matching({})).toEqual(['everybody', 'not-internal'])
  })

  test('counts the rules that a request passed by, of those alone that matched', () => {
    expect(matching({ route: '/users/7/orders', ip: '10.0.0.1' })).toEqual(['internal', 'everybody'])
    expect([...gate.skipped()]).toEqual([['users', 1]])
    expect(matching({ route: '/users/7/orders', ip: '10.0.0.1', user: 'u' })).toEqual([
      'internal',
      'everybody',
      'users',
    ])
    expect([...gate.skipped()]).toEqual([['users', 1]])
  })

  test('has another version where a condition differs, and the same where its spelling does', () => {
    const version = (wanted: Record<string, Condition>) => createGate({ rules: [rule('a', wanted)] }).version
    const all = [
      { route: '/a' },
      { route: { prefix: '/a' } },
      { route: { glob: '/a' } },
      { route: { not: '/a' } },
      { ruote: '/a' },
    ]
    expect(new Set(all.map(version)).size).toBe(all.length)
    expect(version({ route: ['/b', '/a'] })).toBe(version({ route: ['/a', '/b', '/a'] }))
  })
})
