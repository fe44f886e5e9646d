import type { FastifyInstance } from 'fastify'
import type { Descriptor, Gate, RefundOptions } from 'tidegate'
import { z } from 'zod'
import { acceptJson, readBody, shapeOf } from './json-body.ts'

const refundFields = {
  descriptor: z.unknown().optional(),
  cost: z.unknown().optional(),
  decision: z.unknown().optional(),
  id: z.unknown().optional(),
}
const leaseFields = { descriptor: z.unknown().optional(), id: z.unknown().optional() }

/** The shape alone: what the values must be is the library's to say. */
const refundSchema = shapeOf(refundFields)
const leaseSchema = shapeOf(leaseFields)

/** `POST /v1/refund`, and for the leases of `concurrency` `/v1/release` and `/v1/renew`. */
export async function refundRoutes(server: FastifyInstance, { gate }: { gate: Gate }): Promise<void> {
  acceptJson(server)

  server.post('/v1/refund', async (request) => {
    const { descriptor, ...options } = readBody(request, refundSchema)
    return { refunded: Object.fromEntries(await gate.refund(descriptor as Descriptor, options as RefundOptions)) }
  })

  server.post('/v1/release', async (request) => {
    const { descriptor, id } = readBody(request, leaseSchema)
    return { released: await gate.release(descriptor as Descriptor, id as string) }
  })

  server.post('/v1/renew', async (request) => {
    const { descriptor, id } = readBody(request, leaseSchema)
    return { renewed: await gate.renew(descriptor as Descriptor, id as string) }
  })
}
