const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 }

/** The milliseconds of a `grpc-timeout` header, at most eight digits and a unit; undefined for any other text. */
export function timeoutMs(text: string): number | undefined {
  const unit = UNITS[text.charAt(text.length - 1)]
  const digits = text.slice(0, -1)
  return unit === undefined || !/^\d{1,8}$/.test(digits) ? undefined : Number(digits) * unit
}
