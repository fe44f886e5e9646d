declare const process: { emitWarning?: (text: string, options: { code: string }) => void } | undefined

export type WarningCode = 'TIDEGATE_CLIENT_RESENDS' | 'TIDEGATE_CLIENT_FORGETS'

const warned = new Set<string>()

/** Warns of a client's settings, once for a process and text. */
export function warnOnce(code: WarningCode, text: string): void {
  if (warned.has(text) || typeof process !== 'object') return
  warned.add(text)
  process.emitWarning?.(text, { code })
}
