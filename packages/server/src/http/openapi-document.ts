import type { Reason } from 'tidegate'
import { serviceErrorCodes } from '../errors.ts'

/** The HTTP API, as an OpenAPI 3.1 document. A test holds its paths and those that are served together. */
export function openapiDocument(version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidegate',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: 'May a request pass? Limits by descriptors, in memory or in Redis.',
    },
    paths,
    components: {
      schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token of --admin-tokens.' } },
    },
  }
}

type Schema = Readonly<Record<string, unknown>>

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
const list = (items: Schema): Schema => ({ type: 'array', items })
const object = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const count: Schema = { type: 'integer', minimum: 0, maximum: 4_294_967_295 }
const milliseconds: Schema = { type: ['integer', 'null'], minimum: 0, description: 'Milliseconds; null for never.' }
const id: Schema = { type: 'string', minLength: 1, maxLength: 256 }
const duration: Schema = { type: ['integer', 'string'], examples: ['10m', 600_000] }
const rule: Schema = { type: 'string', description: 'The name of the rule that is meant, where several match.' }

/** Each of them, or this does not compile. */
const reasonsKnown: Record<Reason, true> = {
  ok: true,
  no_rule: true,
  over_limit: true,
  cost_exceeds_limit: true,
  blocked: true,
  missing_dimension: true,
  store_unavailable: true,
}
const reasons = Object.keys(reasonsKnown)

const figures = {
  rule: { type: ['string', 'null'], description: 'The rule that decided; null where none matched.' },
  allowed: flag,
  limit: count,
  used: count,
  remaining: count,
  retryAfterMs: milliseconds,
  resetAfterMs: milliseconds,
  reason: { enum: reasons },
  at: { type: 'integer', description: "Milliseconds since the epoch, on the store's clock." },
}

const schemas: Readonly<Record<string, Schema>> = {
  Descriptor: {
    type: 'object',
    additionalProperties: { type: 'string', minLength: 1, maxLength: 4096 },
    examples: [{ route: '/order', tenant: 't1' }],
  },
  Check: object({ descriptor: ref('Descriptor'), cost: { ...count, default: 1 }, id }, ['descriptor']),
  // Open: a decision may say more in a later version.
  RuleDecision: {
    type: 'object',
    properties: {
      ...figures,
      shard: { type: 'integer', description: 'Of a rule with shards: which of them decided, from 0.' },
      shadow: { const: true, description: 'The rule is in shadow: it refuses nobody.' },
      unlimited: { const: true, description: 'The rule does not count this request.' },
    },
    required: Object.keys(figures),
  },
  Settlement: {
    type: 'object',
    properties: {
      settled: flag,
      rules: list(object({ rule: text, settled: flag, charged: count, refunded: count }, ['rule', 'settled'])),
    },
    required: ['settled', 'rules'],
  },
  Decision: {
    type: 'object',
    properties: {
      ...figures,
      rules: list(ref('RuleDecision')),
      source: {
        enum: ['store', 'local', 'denied-cache', 'lease', 'coarse'],
        description:
          'Where it was made. local: here, because the store did not answer in time. denied-cache: the store had just refused ' +
          'the same. lease: of permits that the store has granted in advance. coarse: too many were on their way to the store.',
      },
      id: { type: ['string', 'null'] },
      atomicity: { enum: ['strict', 'compensated'] },
      version: text,
    },
    required: [...Object.keys(figures), 'rules', 'source', 'version'],
  },
  Problem: {
    type: 'object',
    properties: {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      code: { type: 'string', examples: Object.keys(serviceErrorCodes) },
      field: text,
      expected: text,
    },
    required: ['type', 'title', 'status', 'detail', 'code'],
  },
}

const json = (schema: Schema): object => ({ content: { 'application/json': { schema } } })
const answer = (description: string, schema: Schema): object => ({ description, ...json(schema) })
const problem: object = {
  description: 'What is wrong, as a problem document (RFC 9457).',
  content: { 'application/problem+json': { schema: ref('Problem') } },
}

interface Operation {
  readonly summary: string
  readonly body?: Schema
  readonly answers: Readonly<Record<number, object>>
  readonly isAdmin?: boolean
}

function operation({ summary, body, answers, isAdmin = false }: Operation): object {
  return {
    summary,
    ...(body !== undefined && { requestBody: { required: true, ...json(body) } }),
    responses: { ...answers, default: problem },
    ...(isAdmin && { security: [{ token: [] }] }),
  }
}

const decision = answer('The decision.', ref('Decision'))
const settlement = answer('What was charged or given back, by rule.', ref('Settlement'))
const plain = (description: string): object => ({ description, content: { 'text/plain': { schema: text } } })
const of = (properties: Record<string, Schema>): object => answer('Done.', object(properties, Object.keys(properties)))
const readiness: Schema = {
  type: 'object',
  properties: { status: { enum: ['ready', 'degraded'] }, store: { type: 'object' } },
  required: ['status'],
}
const counter = { descriptor: ref('Descriptor'), rule }

const paths = {
  '/v1/limit': {
    post: operation({
      summary: 'Decides one request, and charges it where it may pass.',
      body: ref('Check'),
      answers: { 200: decision, 429: answer('The decision of a request that is refused.', ref('Decision')) },
    }),
  },
  '/v1/limit/batch': {
    post: operation({
      summary: 'Decides up to 1,000 requests, in their order.',
      body: object({ checks: { ...list(ref('Check')), maxItems: 1000 } }, ['checks']),
      answers: {
        200: of({ decisions: list({ anyOf: [ref('Decision'), object({ error: ref('Problem') }, ['error'])] }) }),
      },
    }),
  },
  '/v1/peek': {
    post: operation({ summary: 'What /v1/limit would answer.', body: ref('Check'), answers: { 200: decision } }),
  },
  '/v1/refund': {
    post: operation({
      summary: 'Gives back what was admitted.',
      body: object({ descriptor: ref('Descriptor'), cost: count, decision: ref('Decision'), id }, ['descriptor']),
      answers: { 200: of({ refunded: { type: 'object', additionalProperties: count } }) },
    }),
  },
  '/v1/reserve': {
    post: operation({
      summary: 'Charges an estimate, whose actual cost is told later.',
      body: object({ descriptor: ref('Descriptor'), cost: { ...count, minimum: 1 }, id, expiresIn: duration }, [
        'descriptor',
        'cost',
      ]),
      answers: { 200: decision, 429: answer('The decision of a request that is refused.', ref('Decision')) },
    }),
  },
  '/v1/settle': {
    post: operation({
      summary: 'Puts the actual cost in the place of what was reserved.',
      body: object({ descriptor: ref('Descriptor'), id, cost: count }, ['descriptor', 'id', 'cost']),
      answers: { 200: settlement },
    }),
  },
  '/v1/cancel': {
    post: operation({
      summary: 'Gives back what was reserved.',
      body: object({ descriptor: ref('Descriptor'), id }, ['descriptor', 'id']),
      answers: { 200: settlement },
    }),
  },
  '/v1/release': {
    post: operation({
      summary: 'Ends a lease.',
      body: object({ descriptor: ref('Descriptor'), id }, ['descriptor', 'id']),
      answers: { 200: of({ released: flag }) },
    }),
  },
  '/v1/renew': {
    post: operation({
      summary: 'Lets a lease live on.',
      body: object({ descriptor: ref('Descriptor'), id }, ['descriptor', 'id']),
      answers: { 200: of({ renewed: flag }) },
    }),
  },
  '/auth': {
    get: operation({
      summary: 'Forward auth: may the request that a gateway has before it pass? Any method.',
      answers: {
        200: { description: 'It may.' },
        429: { description: 'It may not; or 401 or 403, as it is configured.' },
      },
    }),
  },
  '/json': {
    post: operation({
      summary: 'A RateLimitRequest of Envoy as JSON.',
      body: { type: 'object' },
      answers: { 200: answer('OK', { type: 'object' }), 429: answer('OVER_LIMIT', { type: 'object' }) },
    }),
  },
  '/v1/rules': {
    get: operation({
      summary: 'The rules as they are.',
      answers: { 200: of({ version: text, rules: list({ type: 'object' }) }) },
      isAdmin: true,
    }),
    put: operation({
      summary: 'Replaces all rules, until the configuration file is read again.',
      body: object({ rules: list({ type: 'object' }) }, ['rules']),
      answers: { 200: answer('What has changed.', { type: 'object' }) },
      isAdmin: true,
    }),
  },
  '/v1/reset': {
    post: operation({
      summary: 'Forgets the counts of a descriptor.',
      body: object({ descriptor: ref('Descriptor') }, ['descriptor']),
      answers: { 200: of({ reset: flag }) },
      isAdmin: true,
    }),
  },
  '/v1/block': {
    post: operation({
      summary: 'Refuses a descriptor for a time, or for ever.',
      body: object({ ...counter, duration: { ...duration, examples: ['10m', 'forever'] } }, ['descriptor', 'duration']),
      answers: { 200: of({ blocked: flag }) },
      isAdmin: true,
    }),
  },
  '/v1/unblock': {
    post: operation({
      summary: 'Ends a block.',
      body: object(counter, ['descriptor']),
      answers: { 200: of({ unblocked: flag }) },
      isAdmin: true,
    }),
  },
  '/v1/entries': {
    post: operation({
      summary: 'The live admissions of a sliding-log, or the leases of concurrency.',
      body: object(counter, ['descriptor']),
      answers: { 200: of({ entries: list(object({ at: { type: 'integer' }, id: text, cost: count })) }) },
      isAdmin: true,
    }),
  },
  '/v1/schema': {
    get: operation({
      summary: 'The JSON Schema of the configuration file.',
      answers: {
        200: { description: 'It.', content: { 'application/schema+json': { schema: { type: 'object' } } } },
      },
    }),
  },
  '/metrics': { get: operation({ summary: 'For Prometheus.', answers: { 200: plain('Its text format.') } }) },
  '/healthz': { get: operation({ summary: 'Whether the process runs.', answers: { 200: of({ status: text }) } }) },
  '/readyz': {
    get: operation({
      summary: 'Whether requests can be decided: ready, or degraded while the store is away.',
      answers: { 200: answer('They can.', readiness) },
    }),
  },
  '/healthcheck': { get: operation({ summary: 'As envoyproxy/ratelimit has it.', answers: { 200: plain('OK') } }) },
  '/rlconfig': { get: operation({ summary: 'Its limits, a line each.', answers: { 200: plain('The limits.') } }) },
}
