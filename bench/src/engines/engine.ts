import type { Redis } from 'ioredis'

/** Decides one request, reads the whole answer, and says whether it was admitted. */
export type Ask = (key: string) => Promise<boolean>

export interface Quota {
  readonly limit: number
  readonly seconds: number
}

/** A limiter that counts in Redis, through its public API. */
export interface Engine {
  readonly name: string
  /** What it counts by, in the words of docs/algorithms. */
  readonly counts: 'exact' | 'approximate' | 'fixed window' | 'nothing'
  /** Whether most decisions are made in this process, so that nothing but the one who asks lets sockets be read. */
  readonly isLocal?: boolean
  readonly open: (client: Redis, quota: Quota) => Ask | Promise<Ask>
}
