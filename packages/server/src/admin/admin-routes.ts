import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Descriptor, Gate, RuleOptions } from 'tidegate'
import { z } from 'zod'
import { acceptJson, readBody, shapeOf } from '../http/json-body.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { authorize } from './authorize.ts'
import type { Scope, Tokens } from './tokens.ts'

export interface AdminOptions {
  readonly gate: Gate
  readonly tokens: Tokens
  readonly metrics: Metrics
}

/** The shape alone: what the values must be is the library's to say. */
const rulesSchema = shapeOf({ rules: z.unknown() })
const counterSchema = shapeOf({ descriptor: z.unknown().optional(), rule: z.unknown().optional() })
const resetSchema = shapeOf({ descriptor: z.unknown().optional() })
const blockSchema = shapeOf({
  descriptor: z.unknown().optional(),
  rule: z.unknown().optional(),
  duration: z.unknown().optional(),
})

/** Rules as they are and as they are to be, counters forgotten and keys blocked; for whoever may administrate. */
export async function adminRoutes(server: FastifyInstance, { gate, tokens, metrics }: AdminOptions): Promise<void> {
  acceptJson(server)
  const allow = (scope: Scope) => ({
    onRequest: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (!tokens.isEmpty) void reply.header('www-authenticate', 'Bearer')
      authorize(request, tokens, scope)
      void reply.removeHeader('www-authenticate')
    },
  })

  server.get('/v1/rules', allow('read'), async () => ({ version: gate.version, rules: gate.rules.map(shown) }))

  server.put('/v1/rules', allow('write'), async (request) => {
    const { rules } = readBody(request, rulesSchema)
    const changes = gate.update(rules as RuleOptions[])
    metrics.serves('rules', gate.version)
    request.log.warn({ ...changes }, 'the rules were replaced over HTTP, until the configuration file is read again')
    return changes
  })

  server.post('/v1/reset', allow('write'), async (request) => {
    const { descriptor } = readBody(request, resetSchema)
    await gate.reset(descriptor as Descriptor)
    return { reset: true }
  })

  server.post('/v1/block', allow('write'), async (request) => {
    const { descriptor, duration, rule } = readBody(request, blockSchema)
    await gate.block(descriptor as Descriptor, duration as 'forever', ruleOf(rule))
    return { blocked: true }
  })

  server.post('/v1/unblock', allow('write'), async (request) => {
    const { descriptor, rule } = readBody(request, counterSchema)
    return { unblocked: await gate.unblock(descriptor as Descriptor, ruleOf(rule)) }
  })

  server.post('/v1/entries', allow('read'), async (request) => {
    const { descriptor, rule } = readBody(request, counterSchema)
    return { entries: await gate.entries(descriptor as Descriptor, ruleOf(rule)) }
  })
}

function ruleOf(rule: unknown): { rule?: string } {
  return rule === undefined ? {} : { rule: rule as string }
}

/** A rule without what is made of it for counting. */
function shown(rule: Gate['rules'][number]): object {
  const { name, key, algorithm, limit, windowMs, onStoreFailure, description } = rule
  return {
    ...{ name, key, algorithm, limit, windowMs, onStoreFailure },
    ...(rule.shadow && { shadow: true }),
    ...(rule.unlimited && { unlimited: true }),
    ...(rule.required && { required: true }),
    ...(description !== undefined && { description }),
  }
}
