const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LEVELS)[number]

/** A log level of pino; undefined for any other text. */
export function readLogLevel(text: string): LogLevel | undefined {
  return LEVELS.find((level) => level === text)
}
