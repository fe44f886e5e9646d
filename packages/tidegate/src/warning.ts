import type { WarningEvent } from './observer.ts'

declare const process: { emitWarning?: (text: string, options: { code: string }) => void } | undefined

/** Takes a warning. */
export type Warn = (warning: WarningEvent) => void

const warned = new Set<string>()

/** Warns of it as Node does, once for a process and text: for those who have no observer. */
export const warnOnce: Warn = ({ code, message }) => {
  if (warned.has(message) || typeof process !== 'object') return
  warned.add(message)
  process.emitWarning?.(message, { code })
}
