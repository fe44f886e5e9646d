import { describe, expectTypeOf, test } from 'vitest'
import type { Descriptor } from '../descriptor.ts'
import { createGate, type Gate } from '../gate.ts'
import type { RuleOptions } from '../rule.ts'

/** The dimensions that a request of a gate can have. */
type Known<Of> = Of extends Gate<infer Request> ? keyof Request : never

describe('the dimensions of rules that are given literally', () => {
  const gate = createGate({
    rules: [
      { name: 'a', match: { route: '/order', method: ['GET'] }, key: ['tenant'], limit: 1, window: 1 },
      { name: 'b', skip: { ip: { cidr: '::1' } }, cost: 'tokens', limit: { dimension: 'plan', default: 5 }, window: 1 },
      {
        name: 'c',
        skip: [{ agent: 'curl' }],
        overrides: [
          { user: 'u', limit: 1 },
          { group: { not: 'g' }, unlimited: true },
        ],
        limit: 1,
        window: 1,
      },
    ],
  })
  type Dimensions = 'route' | 'method' | 'tenant' | 'ip' | 'tokens' | 'plan' | 'agent' | 'user' | 'group'

  test('are those of match, key, skip, cost, limit and overrides', () => {
    expectTypeOf<Known<typeof gate>>().toEqualTypeOf<Dimensions>()
  })

  test('another one does not compile, in any call', async () => {
    gate.limitSync({ route: '/order', tenant: 't' })
    gate.limitSync({})
    // @ts-expect-error: misspelt
    gate.limitSync({ rout: '/order', tenant: 't' })
    // @ts-expect-error: misspelt
    await gate.limit({ tenants: 't' })
    // @ts-expect-error: misspelt
    await gate.acquire({ tenants: 't' })
    // @ts-expect-error: misspelt
    gate.peekSync({ tenants: 't' })
    // @ts-expect-error: misspelt
    await gate.reset({ tenants: 't' })
  })

  test('whatever is read from elsewhere may be asked', () => {
    const descriptor: Descriptor = { route: '/order' }
    gate.limitSync(descriptor)
  })

  test('such a gate is a gate', () => {
    const any: Gate = gate
    expectTypeOf(any).toEqualTypeOf<Gate>()
  })

  test('a misspelt field of a rule does not compile', () => {
    // @ts-expect-error: misspelt
    const wrong = () => createGate({ rules: [{ name: 'a', limit: 1, windw: 1 }] })
    expectTypeOf(wrong).toBeFunction()
  })
})

describe('any dimension may be asked', () => {
  test('where the rules are not known before the program runs', () => {
    const rules: RuleOptions[] = [{ name: 'a', key: ['user'], limit: 1, window: 1 }]
    const gate = createGate({ rules })
    expectTypeOf<Known<typeof gate>>().toEqualTypeOf<string>()
    expectTypeOf(gate).toEqualTypeOf<Gate>()
    gate.limitSync({ anything: 'x' })
  })

  test('where a limit comes from a function, which can read others', () => {
    const gate = createGate({ rules: [{ name: 'a', key: ['user'], limit: ({ plan }) => (plan ? 2 : 1), window: 1 }] })
    gate.limitSync({ user: 'u', plan: 'gold' })
  })
})
