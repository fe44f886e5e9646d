import type { OperationName } from 'tidegate/remote'
import { answer, count, duration, flag, list, object, of, operation, ref, type Schema, text } from './openapi-parts.ts'

const rule: Schema = { type: 'string', description: 'The name of the rule that is meant, where several match.' }
const counter = { descriptor: ref('Descriptor'), rule }

const operationsKnown: Record<OperationName, true> = {
  consume: true,
  peek: true,
  reserve: true,
  settle: true,
  refund: true,
  renew: true,
  entries: true,
  block: true,
  unblock: true,
  reset: true,
  heartbeat: true,
  ping: true,
}
const operations = Object.keys(operationsKnown)

/** The paths of whoever administrates. */
export const adminPaths: Readonly<Record<string, object>> = {
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
  '/v1/store': {
    post: operation({
      summary: 'What tidegate/remote asks: operations on counters, by the rules of whoever asks, done in their order.',
      body: object(
        {
          rules: { ...list({ type: 'object' }), maxItems: 1000 },
          operations: {
            ...list({ type: 'object', properties: { op: { enum: operations } }, required: ['op'] }),
            maxItems: 1000,
          },
        },
        ['operations'],
      ),
      answers: { 200: of({ answers: list({ type: 'object' }) }) },
      isAdmin: true,
    }),
  },
  '/v1/keys': {
    get: {
      ...operation({
        summary: 'How one counter stands: the rule by its name, and a parameter for each dimension of its key.',
        answers: { 200: answer('Its figures.', { type: 'object' }) },
        isAdmin: true,
      }),
      parameters: [
        { name: 'rule', in: 'query', required: true, schema: text },
        { name: 'descriptor', in: 'query', style: 'form', explode: true, schema: ref('Descriptor') },
      ],
    },
  },
  '/v1/events': {
    get: operation({
      summary: 'Refusals, decisions without the store, changes of the breaker and of the configuration, as they come.',
      answers: {
        200: { description: 'Server-sent events.', content: { 'text/event-stream': { schema: text } } },
      },
      isAdmin: true,
    }),
  },
}
