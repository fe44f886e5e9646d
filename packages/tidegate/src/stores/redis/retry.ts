import { monotonicClock } from '../../clock.ts'

/** Error replies that say that nothing was done, and that pass by themselves: of a restart, of a failover. */
const PASSING = new Set(['LOADING', 'READONLY', 'MASTERDOWN', 'CLUSTERDOWN'])

/** The same of a slot of a cluster that moves. Clients follow MOVED and ASK themselves, and give up after some. */
const MOVING = new Set(['TRYAGAIN', 'MOVED', 'ASK'])

/** Milliseconds before each further attempt, 500 altogether: what a failover or a slot's migration may take. */
export const PAUSES: readonly number[] = [10, 20, 40, 80, 150, 200]

/** ioredis puts what the last node said behind words of its own. */
const GIVEN_UP = /^Too many Cluster redirections\. Last error: \w+: /

/** The code that an error reply of Redis begins with: `MOVED` of `MOVED 866 127.0.0.1:7001`; of any other error its first word. */
export function replyCode(error: unknown): string {
  const message = String((error as { message?: unknown } | null)?.message)
  return /^\S*/.exec(message.replace(GIVEN_UP, ''))?.[0] ?? ''
}

/** True where nothing was done because the keys' slot is on the move. */
export function isMoving(error: unknown): boolean {
  return MOVING.has(replyCode(error))
}

/** What ioredis, iovalkey and node-redis say of a command that they have not sent, there being no connection and no queue. */
const UNSENT = /^(?:Stream isn't writeable|The client is offline)/

function isUnsent(error: unknown): boolean {
  return UNSENT.test(String((error as { message?: unknown } | null)?.message))
}

export interface RetryOptions {
  /** Whether a slot on the move is waited for. Outside of a cluster that does not help. */
  readonly moving: boolean
  /** When nobody waits for the answer any more, by the monotonic clock: there is no attempt after that. Default: never. */
  readonly until?: number
  /** Milliseconds before each further attempt. Default: `PAUSES`. */
  readonly pauses?: readonly number[]
}

/**
 * Attempts again, a few times with growing pauses, what was answered with an error that says that nothing was done.
 * Never after a lost connection or a timeout: the command may have run, and would count twice. A client that leaves
 * the server because of such an answer (READONLY) is waited for while it connects anew.
 */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { moving, until = Number.POSITIVE_INFINITY, pauses = PAUSES } = options
  let reply: unknown
  for (const pause of [...pauses, undefined]) {
    try {
      return await attempt()
    } catch (error) {
      if (PASSING.has(replyCode(error)) || (moving && isMoving(error))) reply = error
      else if (reply === undefined || !isUnsent(error)) throw error
    }
    if (pause === undefined || monotonicClock() + pause >= until) break
    await new Promise<void>((resolve) => setTimeout(resolve, pause))
  }
  throw reply
}
