import {
  create,
  fromJsonString,
  type JsonObject,
  type JsonReadOptions,
  type JsonValue,
  toJson,
} from '@bufbuild/protobuf'
import type { RateLimitAnswer, RateLimitMessage } from '../envoy/protocol.ts'
import { ServiceError } from '../errors.ts'
import { RateLimitRequestSchema, RateLimitResponseSchema } from '../grpc/generated/envoy/service/ratelimit/v3/rls_pb.ts'

const READING: Partial<JsonReadOptions> = { ignoreUnknownFields: false }

/**
 * A request as the JSON of Protocol Buffers.
 * @throws ServiceError `ERR_INVALID_BODY`
 */
export function readJsonRequest(text: string): RateLimitMessage {
  try {
    return fromJsonString(RateLimitRequestSchema, text, READING)
  } catch (cause) {
    const expected = 'a RateLimitRequest of Envoy as JSON'
    const message = `body: expected ${expected}; ${(cause as Error).message}`
    throw new ServiceError('ERR_INVALID_BODY', message, { field: 'body', expected, cause })
  }
}

/** An answer as the JSON of Protocol Buffers. */
export function jsonResponse({ overallCode, statuses, headers, dynamicMetadata }: RateLimitAnswer): JsonValue {
  const response = create(RateLimitResponseSchema, {
    overallCode,
    statuses: statuses.map(({ secondsUntilReset, ...status }) => ({
      ...status,
      ...(secondsUntilReset !== undefined && { durationUntilReset: { seconds: BigInt(secondsUntilReset) } }),
    })),
    responseHeadersToAdd: headers.map(([key, value]) => ({ key, value })),
    ...(dynamicMetadata !== undefined && { dynamicMetadata: dynamicMetadata as JsonObject }),
  })
  return toJson(RateLimitResponseSchema, response)
}
