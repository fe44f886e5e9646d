import type { Reason } from 'tidegate'
import { serviceErrorCodes } from '../errors.ts'
import { adminPaths } from './openapi-admin.ts'
import {
  answer,
  count,
  duration,
  flag,
  id,
  list,
  milliseconds,
  object,
  of,
  operation,
  plain,
  ref,
  type Schema,
  text,
} from './openapi-parts.ts'

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

const decision = answer('The decision.', ref('Decision'))
const settlement = answer('What was charged or given back, by rule.', ref('Settlement'))
const readiness: Schema = {
  type: 'object',
  properties: { status: { enum: ['ready', 'degraded'] }, store: { type: 'object' } },
  required: ['status'],
}

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
  ...adminPaths,
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
