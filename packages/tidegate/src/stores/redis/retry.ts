/** Error replies that say that nothing was done, and that pass by themselves: of a restart, a failover, a migration. */
const PASSING = new Set(['LOADING', 'READONLY', 'MASTERDOWN', 'CLUSTERDOWN', 'TRYAGAIN'])

/** Where a key is now. A cluster's client follows them, and gives up after some; of a single node they do not pass. */
const REDIRECTIONS = new Set(['MOVED', 'ASK'])

/** Milliseconds before each further attempt, 500 altogether: what a failover or a slot's migration may take. */
export const PAUSES: readonly number[] = [10, 20, 40, 80, 150, 200]

/** ioredis puts what the last node said behind words of its own. */
const GIVEN_UP = /^Too many Cluster redirections\. Last error: \w+: /

/** The code that an error reply of Redis begins with: `MOVED` of `MOVED 866 127.0.0.1:7001`; of any other error its first word. */
export function replyCode(error: unknown): string {
  const message = String((error as { message?: unknown } | null)?.message)
  return /^\S*/.exec(message.replace(GIVEN_UP, ''))?.[0] ?? ''
}

export interface RetryOptions {
  /** Whether redirections are tried again. */
  readonly cluster: boolean
  /** A code that is not waited for, because the caller knows better than to send the same again. */
  readonly except?: string | undefined
  /** Milliseconds before each further attempt. Default: `PAUSES`. */
  readonly pauses?: readonly number[]
}

/**
 * Attempts again, a few times with growing pauses, what was answered with an error that says that nothing was done.
 * Never after a lost connection or a timeout: the command may have run, and would count twice.
 */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (const pause of options.pauses ?? PAUSES) {
    try {
      return await attempt()
    } catch (error) {
      if (!passes(replyCode(error), options)) throw error
    }
    await new Promise<void>((resolve) => setTimeout(resolve, pause))
  }
  return attempt()
}

function passes(code: string, { cluster, except }: RetryOptions): boolean {
  return code !== except && (PASSING.has(code) || (cluster && REDIRECTIONS.has(code)))
}
