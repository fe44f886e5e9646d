import type { Logger } from 'pino'

/**
 * A fault that nobody foresaw ends the process, so that whoever watches it starts a sound one; and the log says why, as
 * JSON like all else. Nothing that counts is lost with it: counts are in the store.
 */
export function logLastWords(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'a fault that nobody foresaw; the process ends')
    process.exit(1)
  })
}
