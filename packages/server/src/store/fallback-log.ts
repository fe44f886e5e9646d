import type { Logger } from 'pino'
import type { FallbackEvent, Observer } from 'tidegate'

/** How often decisions without the store are a line in the log at most. Milliseconds. */
const INTERVAL_MS = 60_000

export interface FallbackLog {
  readonly observer: Observer
  /** Ends the timer. */
  close(): void
}

/**
 * Says what is decided without the store: the first such decision at once, then how many there were in each minute, and
 * one line after a minute with none. Each change of the breaker, and each warning, is a line of its own.
 */
export function fallbackLog(logger: Logger, intervalMs = INTERVAL_MS): FallbackLog {
  let timer: NodeJS.Timeout | undefined
  let count = 0
  let refused = 0

  function review(): void {
    if (count > 0) {
      logger.warn({ count, refused }, 'decisions are still made without the store')
    } else {
      logger.info('no decision has been made without the store for a minute')
      clearInterval(timer)
      timer = undefined
    }
    count = 0
    refused = 0
  }

  function fallback({ cause, allowed, rules }: FallbackEvent): void {
    if (timer === undefined) {
      const [first] = rules
      logger.warn({ cause, allowed, rule: first?.rule, policy: first?.policy }, 'a decision was made without the store')
      timer = setInterval(review, intervalMs).unref()
      return
    }
    count++
    if (!allowed) refused++
  }

  return {
    observer: {
      fallback,
      lateReply: ({ lateMs }) => logger.debug({ lateMs: Math.round(lateMs) }, 'an answer of the store came too late'),
      breakerChange: ({ from, to, retryInMs }) => {
        const facts = { from, to, retryInMs: Math.round(retryInMs) }
        if (to === 'open') logger.warn(facts, 'the store is not asked: it has failed too often')
        else if (to === 'closed') logger.info(facts, 'the store is asked again')
        else logger.debug(facts, 'the store answers: it is asked once')
      },
      warning: ({ code, message }) => logger.warn({ code }, message),
    },
    close: () => clearInterval(timer),
  }
}
