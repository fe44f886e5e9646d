import type { FastifyInstance } from 'fastify'
import type { Descriptor, Gate, ReserveOptions, SettleOptions } from 'tidegate'
import { rateLimitHeaders } from 'tidegate/http'
import { z } from 'zod'
import { acceptJson, readBody, shapeOf } from './json-body.ts'

const cancelFields = { descriptor: z.unknown().optional(), id: z.unknown().optional() }
const settleFields = { ...cancelFields, cost: z.unknown().optional() }

/** The shape alone: what the values must be is the library's to say. */
const reserveSchema = shapeOf({ ...settleFields, expiresIn: z.unknown().optional() })
const settleSchema = shapeOf(settleFields)
const cancelSchema = shapeOf(cancelFields)

/** `POST /v1/reserve`, `/v1/settle` and `/v1/cancel`. */
export async function reserveRoutes(server: FastifyInstance, { gate }: { gate: Gate }): Promise<void> {
  acceptJson(server)

  server.post('/v1/reserve', async (request, reply) => {
    // Those that it is decided by, whatever comes while it is on its way.
    const { rules } = gate
    const { descriptor, ...options } = readBody(request, reserveSchema)
    const decision = await gate.reserve(descriptor as Descriptor, options as unknown as ReserveOptions)
    return reply
      .code(decision.allowed ? 200 : 429)
      .headers(rateLimitHeaders(decision, rules))
      .send(decision)
  })

  server.post('/v1/settle', async (request) => {
    const { descriptor, id, ...options } = readBody(request, settleSchema)
    return gate.settle(descriptor as Descriptor, id as string, options as unknown as SettleOptions)
  })

  server.post('/v1/cancel', async (request) => {
    const { descriptor, id } = readBody(request, cancelSchema)
    return gate.cancel(descriptor as Descriptor, id as string)
  })
}
