import type { FastifyInstance } from 'fastify'
import type { Store } from 'tidegate'
import { storeService } from 'tidegate/remote'
import { acceptJson, parseJson } from '../http/json-body.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { allow } from './authorize.ts'
import type { Tokens } from './tokens.ts'

export interface StoreRouteOptions {
  readonly store: Store
  readonly tokens: Tokens
  readonly metrics: Metrics
}

/** The most bytes of a body: a batch of many keys is longer than what a gateway asks. */
const BODY_LIMIT = 4_194_304

/** `POST /v1/store`: what `remoteStore` asks, for those who may count by rules of their own. */
export async function storeRoutes(
  server: FastifyInstance,
  { store, tokens, metrics }: StoreRouteOptions,
): Promise<void> {
  acceptJson(server)
  const service = storeService(store, {
    onFault: (error) => server.log.error({ err: error }, 'unforeseen error'),
  })

  server.post('/v1/store', { ...allow(tokens, 'store'), bodyLimit: BODY_LIMIT }, async (request) => {
    const answer = await service.answer(parseJson(request.body))
    metrics.remoteOperations.inc(answer.answers.length)
    return answer
  })
}
