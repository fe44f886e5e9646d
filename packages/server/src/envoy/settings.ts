/** How requests of Envoy are answered, besides by their limits. */
export interface AnswerSettings {
  /** Every request passes; statuses and counts are as they would be. Default: false. */
  readonly shadowMode: boolean
  /** All limits are quotas: a request is refused when all of them are used up. Default: false. */
  readonly quotaMode: boolean
  /** Whether responses get headers with the limit that is nearest, and what they are called. */
  readonly headers: HeaderNames | undefined
  /** Whether the answer has the request and the metadata of its limits as dynamic metadata. Default: false. */
  readonly dynamicMetadata: boolean
  /** `together`: all descriptors of a request are charged or none. `apart`: each by itself, whatever the others say. */
  readonly counting: Counting
}

export interface HeaderNames {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

export const countings = ['together', 'apart'] as const
export type Counting = (typeof countings)[number]
