import { TidegateError } from 'tidegate'
import type { RateLimiting } from '../envoy/rate-limiting.ts'
import { REDIS_ERROR, type StatsdCounters } from './statsd-counters.ts'

/** Counts requests and their errors by the names of envoyproxy/ratelimit, in statsd. */
export function countedCalls(answer: RateLimiting, statsd: StatsdCounters): RateLimiting {
  return async (request) => {
    statsd.addWhole('ratelimit_server.ShouldRateLimit.total_requests', 1)
    try {
      return await answer(request)
    } catch (error) {
      const isOfStore = error instanceof TidegateError && error.code.startsWith('ERR_STORE_')
      statsd.add(isOfStore ? REDIS_ERROR : 'call.should_rate_limit.service_error', 1)
      throw error
    }
  }
}
