import type { Entry } from './find-limit.ts'

/** A request as the protocol has it, read and checked. */
export interface LimitRequest {
  readonly domain: string
  readonly descriptors: readonly RequestDescriptor[]
  /** As it was sent, for the metadata of the answer. */
  readonly hitsAddend: number
}

export interface RequestDescriptor {
  readonly entries: readonly Entry[]
  /** The cost: 0 reads and charges nothing. At most 4,294,967,295. */
  readonly hits: number
  /** The descriptor's own hits, where it has them. */
  readonly ownHits: number | undefined
  /** The cost is given back. */
  readonly isRefund: boolean
  /** A limit that counts instead of the configured one. */
  readonly override: { readonly requestsPerUnit: number; readonly unit: number } | undefined
}

/** The most descriptors of a request. */
export const MOST_DESCRIPTORS = 100
/** The most entries of a descriptor. */
export const MOST_ENTRIES = 32
