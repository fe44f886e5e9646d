import type { JsonObject } from './json.ts'

/** What is read of `envoy.service.ratelimit.v3.RateLimitRequest`, with the names of generated code. */
export interface RateLimitMessage {
  readonly domain: string
  readonly descriptors: readonly DescriptorMessage[]
  readonly hitsAddend: number
}

export interface DescriptorMessage {
  readonly entries: readonly { readonly key: string; readonly value: string }[]
  readonly limit?: { readonly requestsPerUnit: number; readonly unit: number } | undefined
  readonly hitsAddend?: number | bigint | undefined
  readonly isNegativeHits: boolean
}

/** `RateLimitResponse.Code`. */
export const CODE = { OK: 1, OVER_LIMIT: 2 } as const
export type Code = (typeof CODE)[keyof typeof CODE]

/** What is written of `envoy.service.ratelimit.v3.RateLimitResponse`. */
export interface RateLimitAnswer {
  readonly overallCode: Code
  readonly statuses: readonly StatusAnswer[]
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly dynamicMetadata?: JsonObject | undefined
}

export interface StatusAnswer {
  readonly code: Code
  readonly currentLimit?: { readonly requestsPerUnit: number; readonly unit: number; readonly name: string }
  readonly limitRemaining: number
  readonly secondsUntilReset?: number
}
