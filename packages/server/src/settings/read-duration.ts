const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `24h`, `90s`, or several together, `1h30m`, in milliseconds: 1 s to 366 days. `off` is for ever; undefined for any other text. */
export function readDuration(text: string): number | undefined {
  if (text === 'off') return Number.POSITIVE_INFINITY
  if (!/^(?:\d{1,9}(?:ms|s|m|h|d))+$/.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|s|m|h|d)/g)) ms += Number(amount) * (UNITS[unit ?? ''] ?? 0)
  return ms >= 1000 && ms <= 366 * 86_400_000 ? ms : undefined
}
