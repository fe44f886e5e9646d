import type { FastifyInstance } from 'fastify'
import type { Decision, Descriptor, Gate, RequestOptions } from 'tidegate'
import { rateLimitHeaders } from 'tidegate/http'
import { z } from 'zod'
import { acceptJson, readBody, readFields, readShape, shapeOf } from './json-body.ts'
import { type Problem, problemOf } from './problem.ts'

/** The most checks in one batch. */
export const MOST_CHECKS = 1000

/** The shape alone: what a descriptor and a cost must be is the library's to say. */
const checkSchema = shapeOf({
  descriptor: z.unknown().optional(),
  cost: z.unknown().optional(),
  id: z.unknown().optional(),
})
type Check = z.output<typeof checkSchema>
const checkFields = new Set(Object.keys(checkSchema.shape))

const batchSchema = z.strictObject(
  {
    checks: z
      .array(z.unknown(), { error: 'an array of checks' })
      .max(MOST_CHECKS, { error: `at most ${MOST_CHECKS.toLocaleString('en-US')} checks` }),
  },
  { error: ({ code }) => (code === 'unrecognized_keys' ? 'one of checks' : 'an object with checks') },
)

/** `POST /v1/limit`, `/v1/peek` and `/v1/limit/batch`. */
export async function limitRoutes(server: FastifyInstance, { gate }: { gate: Gate }): Promise<void> {
  acceptJson(server)

  server.post('/v1/limit', async (request, reply) => {
    // Those that it is decided by, whatever comes while it is on its way.
    const { rules } = gate
    const decision = await decide(gate, readFields(request, checkFields, checkSchema))
    return reply
      .code(decision.allowed ? 200 : 429)
      .headers(rateLimitHeaders(decision, rules))
      .send(decision)
  })

  server.post('/v1/peek', async (request) => {
    const { descriptor, options } = argumentsOf(readFields(request, checkFields, checkSchema))
    return gate.peek(descriptor, options)
  })

  server.post('/v1/limit/batch', async (request) => {
    const { checks } = readBody(request, batchSchema)
    // All are asked in this turn of the event loop, so that the store can take them in one call.
    return { decisions: await Promise.all(checks.map((check, i) => decideInPlace(gate, check, i))) }
  })
}

/** A fault is the answer to its own check; the others have theirs. */
async function decideInPlace(gate: Gate, check: unknown, index: number): Promise<Decision | { error: Problem }> {
  try {
    return await decide(gate, readShape(check, checkSchema))
  } catch (error) {
    return { error: inCheck(problemOf(error, `checks[${index}].`), index) }
  }
}

async function decide(gate: Gate, check: Check): Promise<Decision> {
  const { descriptor, options } = argumentsOf(check)
  return gate.limit(descriptor, options)
}

/** Handed on as they came, whatever their type claims: the gate checks them, and names what is wrong. */
function argumentsOf({ descriptor, cost, id }: Check): { descriptor: Descriptor; options: RequestOptions } {
  return { descriptor: descriptor as Descriptor, options: { cost, id } as RequestOptions }
}

/** A check that is no object at all is called `body` where it is alone. */
function inCheck(problem: Problem, index: number): Problem {
  const place = `checks[${index}]`
  if (problem.field !== `${place}.body`) return problem
  return { ...problem, field: place, detail: problem.detail.replace(`${place}.body`, place) }
}
