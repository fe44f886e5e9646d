const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

/** A duration for people, in its largest whole unit: `90 s`, `2 min`. */
export function durationText(ms: number): string {
  const [size, unit] = UNITS.find(([divisor]) => ms % divisor === 0) ?? [1, 'ms']
  return `${(ms / size).toLocaleString('en-US')} ${unit}`
}
