import { RateLimitService } from '../grpc/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import type { GrpcService } from './grpc-service.ts'

export const ask = RateLimitService.method.shouldRateLimit

/** `key=value` pairs, with commas between, of one descriptor. */
export function of(text: string, more: object = {}) {
  const entries = text.split(',').map((pair) => {
    const [key = '', value = ''] = pair.split('=')
    return { key, value }
  })
  return { entries, ...more }
}

/** What is looked at of an answer: overall, then code, remaining and seconds of each descriptor. */
export async function answer({ client }: GrpcService, descriptors: ReturnType<typeof of>[], more: object = {}) {
  const { overallCode, statuses } = await client.call(ask, { domain: 'shop', descriptors, ...more })
  const short = statuses.map(({ code, currentLimit, limitRemaining, durationUntilReset }) => {
    if (currentLimit === undefined) return [code, limitRemaining]
    return [code, limitRemaining, Number(durationUntilReset?.seconds)]
  })
  return [overallCode, ...short]
}
