import type { Logger } from 'pino'
import { TidegateError } from 'tidegate'

/** What a store was asked for. */
const DECIDING = ['decide', 'reserve', 'settle', 'refund'] as const
const OPERATIONS = [...DECIDING, 'renew', 'entries', 'block', 'unblock', 'reset', 'ping'] as const
export type Operation = (typeof OPERATIONS)[number]

export interface FailureLog {
  failed(operation: Operation, error: unknown): void
  succeeded(operation: Operation): void
  /** Ends the timers. */
  close(): void
}

/** How often one kind of failure is a line in the log at most, and how long it must be gone to be over. Milliseconds. */
const INTERVAL_MS = 60_000

interface Trouble {
  /** Failures that have not been logged yet. */
  count: number
  last: string
  /** Whether the same operation has succeeded in this interval. */
  succeeded: boolean
  readonly operation: Operation
  readonly timer: NodeJS.Timeout
}

/**
 * Says what a store fails with: the first failure of each kind at once, then how many there were in
 * each minute, and one line after a minute with successes and without a failure. A full Redis still
 * refuses clients over their limit, which takes no memory, so that one success alone means nothing.
 */
export function failureLog(logger: Logger, intervalMs = INTERVAL_MS): FailureLog {
  const troubles = new Map<string, Trouble>()
  const troubled = Object.fromEntries(OPERATIONS.map((operation) => [operation, 0])) as Record<Operation, number>

  function review(name: string, kind: string): void {
    const trouble = troubles.get(name) as Trouble
    const { operation, count, last } = trouble
    if (count > 0) {
      logger.warn({ kind, operation, count, reason: last }, 'the store is still failing')
    } else if (trouble.succeeded) {
      logger.info({ kind, operation }, 'the store no longer fails')
      clearInterval(trouble.timer)
      troubles.delete(name)
      troubled[operation]--
      return
    }
    trouble.count = 0
    trouble.succeeded = false
  }

  return {
    failed: (operation, error) => {
      const kind = kindOf(error)
      if (kind === undefined) return
      const reason = (error as Error).message
      const name = `${operation} ${kind}`
      const known = troubles.get(name)
      if (known !== undefined) {
        known.count++
        known.last = reason
        return
      }
      logger.warn({ kind, operation, count: 1, reason }, 'the store fails')
      const timer = setInterval(review, intervalMs, name, kind).unref()
      troubles.set(name, { count: 0, last: reason, succeeded: false, operation, timer })
      troubled[operation]++
    },
    succeeded: (operation) => {
      // Nearly always there is no trouble, and this is on the way of every decision.
      if (troubled[operation] === 0) return
      for (const trouble of troubles.values()) if (trouble.operation === operation) trouble.succeeded = true
    },
    close: () => {
      for (const { timer } of troubles.values()) clearInterval(timer)
      troubles.clear()
    },
  }
}

/** Lines of their own say that there is no connection, and that Redis is a replica. */
const LOGGED_ELSEWHERE = /^Redis: (?:not connected|READONLY )/

/** The code of the library; of what Redis answered, its first word, such as `OOM`. */
function kindOf(error: unknown): string | undefined {
  if (!(error instanceof TidegateError)) return undefined
  const { code, message } = error
  if (code === 'ERR_CLOSED' || LOGGED_ELSEWHERE.test(message)) return undefined
  if (code !== 'ERR_STORE_UNAVAILABLE') return code
  if (message === 'Redis: Command timed out') return 'timeout'
  return /^Redis: (?:the key .* was not decided: )?([A-Z]+)\b/.exec(message)?.[1] ?? code
}
