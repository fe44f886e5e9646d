import type { Store } from '../stores/store.ts'

/** How something is done to what was admitted in this process, and to what the store admitted. */
export interface Place<Result> {
  here(local: Store): Promise<Result>
  there(): Promise<Result>
  /** Whether it was found where it was looked for. */
  isDone(result: Result): boolean
  readonly operation: string
}
