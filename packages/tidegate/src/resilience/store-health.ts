/** What a store says of itself; undefined where it cannot tell. */
export interface StoreHealth {
  /** Which keys are evicted when memory is full. */
  readonly evictionPolicy: string | undefined
  /** Keys evicted since the server's start. */
  readonly evictedKeys: number | undefined
  /** The memory that it uses, bytes. */
  readonly memoryBytes?: number | undefined
  /** The memory that it may use, bytes; 0 where it may use all. */
  readonly maxMemoryBytes?: number | undefined
  /** The used part of the memory that it may use, 0 to 1; undefined where it may use all. */
  readonly memoryShare: number | undefined
  readonly isReplica: boolean | undefined
  /** How far its clock is ahead of ours, ms. */
  readonly skewMs: number | undefined
}
