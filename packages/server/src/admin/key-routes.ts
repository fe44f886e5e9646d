import type { FastifyInstance } from 'fastify'
import type { Descriptor, Gate, Store } from 'tidegate'
import { redisKey } from 'tidegate/redis'
import { keyOf } from 'tidegate/store'
import { ServiceError } from '../errors.ts'
import { allow } from './authorize.ts'
import type { Tokens } from './tokens.ts'

export interface KeyOptions {
  readonly gate: Gate
  readonly store: Store
  readonly tokens: Tokens
}

type Rule = Gate['rules'][number]

/** So many entries are shown. */
const MOST_ENTRIES = 100

/** `GET /v1/keys?rule=NAME&user=u1`: how one counter stands, without counting. */
export async function keyRoutes(server: FastifyInstance, { gate, store, tokens }: KeyOptions): Promise<void> {
  server.get('/v1/keys', allow(tokens, 'read'), async (request) => {
    const { rule: name, ...descriptor } = readQuery(request.query as Record<string, unknown>)
    const rule = gate.rules.find((one) => one.name === name)
    if (rule === undefined) throw wrong('rule', `one of ${gate.rules.map((one) => one.name).join(', ') || 'no rules'}`)
    const key = keyOf(rule, descriptor)
    const missing = rule.key.find((dimension) => !Object.hasOwn(descriptor, dimension))
    if (key === undefined) throw wrong(missing ?? 'rule', 'a value, because it is in the key of the rule')
    const figures = (await asked(gate, rule, descriptor)) ?? (await store.decide([{ rule, key, cost: 1 }], 'peek'))[0]
    const { algorithm, windowMs } = rule
    const shown = Object.fromEntries(rule.key.map((dimension) => [dimension, descriptor[dimension]]))
    const entries = LISTED.includes(algorithm) ? (await store.entries(rule, key)).slice(0, MOST_ENTRIES) : undefined
    return {
      ...{ algorithm, windowMs, key: shown, redisKey: redisKey(rule, key), version: gate.version, figures },
      ...(entries !== undefined && { entries }),
    }
  })
}

const LISTED: readonly string[] = ['sliding-log', 'concurrency']

/** The figures of the rule where it counts the request, with the limit that an override gives it. */
async function asked(gate: Gate, { name }: Rule, descriptor: Descriptor) {
  return (await gate.peek(descriptor)).rules.find((figures) => figures.rule === name)
}

function readQuery(query: Record<string, unknown>): Record<string, string> {
  const repeated = Object.entries(query).find(([, value]) => typeof value !== 'string')
  if (repeated !== undefined) throw wrong(repeated[0], 'one value')
  return query as Record<string, string>
}

function wrong(field: string, expected: string): ServiceError {
  return new ServiceError('ERR_INVALID_QUERY', `${field}: expected ${expected}`, { field, expected })
}
