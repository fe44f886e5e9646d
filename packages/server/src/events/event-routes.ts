import type { FastifyInstance } from 'fastify'
import { allow } from '../admin/authorize.ts'
import type { Tokens } from '../admin/tokens.ts'
import { ServiceError } from '../errors.ts'
import type { EventHub } from './event-hub.ts'
import { EventStreams } from './event-stream.ts'

export interface EventOptions {
  readonly events: EventHub
  readonly tokens: Tokens
}

/** So many can read at a time. */
const MOST_READERS = 100

/** `GET /v1/events`: refusals, decisions without the store, changes of the breaker and of the configuration, as they come. */
export async function eventRoutes(server: FastifyInstance, { events, tokens }: EventOptions): Promise<void> {
  const streams = new EventStreams(events)
  // Whoever reads reads for ever: the service would wait for him.
  server.addHook('preClose', async () => streams.close())

  server.get('/v1/events', { ...allow(tokens, 'read'), exposeHeadRoute: false }, async (request, reply) => {
    if (streams.size >= MOST_READERS)
      throw new ServiceError('ERR_OVERLOADED', `${MOST_READERS} read the events already`)
    const lastId = request.headers['last-event-id']
    reply.hijack()
    streams.open(reply.raw, typeof lastId === 'string' ? lastId : undefined)
  })
}
