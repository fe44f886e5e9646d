import type { Logger } from 'pino'

export interface OutageLog {
  /** No connection. */
  down(reason: string | undefined): void
  /** A connection on which Redis refuses what comes before the first decision. */
  refused(reason: string): void
  /** A connection is gone; why is known where an error came before. */
  closed(): void
  readOnly(): void
  up(): void
}

/** One line when Redis goes and one when it comes back; not one for each attempt between. */
export function outageLog(url: string, logger: Logger): OutageLog {
  let state: 'new' | 'up' | 'unreachable' | 'refusing' | 'leaving a replica' = 'new'
  const down = (reason: string | undefined): void => {
    if (state === 'unreachable' || state === 'leaving a replica') return
    logger.warn({ url, reason }, 'Redis is not reachable; trying on')
    state = 'unreachable'
  }
  return {
    down,
    refused: (reason) => {
      if (state === 'refusing') return
      logger.warn({ url, reason }, 'Redis refuses the login, the database or a command; trying on')
      state = 'refusing'
    },
    closed: () => {
      if (state === 'new' || state === 'up') down('the connection was closed')
    },
    readOnly: () => {
      logger.warn({ url }, 'Redis is a read-only replica; connecting anew')
      state = 'leaving a replica'
    },
    up: () => {
      if (state === 'new') logger.info({ url }, 'connected to Redis')
      if (state === 'unreachable' || state === 'refusing') logger.info({ url }, 'Redis is back')
      state = 'up'
    },
  }
}
