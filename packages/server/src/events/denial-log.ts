import type { Logger } from 'pino'
import { createLimiter } from 'tidegate'
import type { OnDenial } from './denial.ts'

/** Logs so many refusals in a second at most; the next line says in `suppressed` how many others there were. */
export function denialLog(logger: Logger, mostASecond: number): OnDenial {
  if (mostASecond === 0) return () => undefined
  const bound = createLimiter({ limit: mostASecond, window: '1s' })
  let suppressed = 0
  return (denial) => {
    if (!bound.limitSync('denials').allowed) {
      suppressed++
      return
    }
    logger.info({ event: 'denial', ...denial(), suppressed }, 'a request was refused')
    suppressed = 0
  }
}
