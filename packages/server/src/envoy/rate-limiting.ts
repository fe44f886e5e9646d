import type { Store } from 'tidegate'
import type { ObserveLimits } from '../metrics/limit-counters.ts'
import { answerOf } from './answer.ts'
import { appliedLimits } from './applied-limits.ts'
import { charge } from './charge.ts'
import type { Limits } from './limits.ts'
import type { RateLimitAnswer, RateLimitMessage } from './protocol.ts'
import { readRequest } from './read-request.ts'
import type { AnswerSettings } from './settings.ts'

/**
 * Answers a request of the rate limit protocol.
 * @throws ServiceError `ERR_INVALID_BODY`, and what the store throws
 */
export type RateLimiting = (request: RateLimitMessage) => Promise<RateLimitAnswer>

export interface ConfiguredRateLimiting {
  readonly store: Store
  /** As they are now: the files can be read again. */
  readonly limits: () => Limits
  readonly settings: AnswerSettings
  /** Told of each decision. */
  readonly observe?: ObserveLimits
}

/** By the configuration of envoyproxy/ratelimit. */
export function configuredRateLimiting({ store, limits, settings, observe }: ConfiguredRateLimiting): RateLimiting {
  return async (message) => {
    const request = readRequest(message)
    const applied = appliedLimits(limits().domains.get(request.domain), request)
    const charged = await charge(store, applied, request.descriptors, settings)
    observe?.(charged, request.descriptors)
    return answerOf(request, charged, settings)
  }
}
