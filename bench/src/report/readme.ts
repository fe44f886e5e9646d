import { figure, markdownTable } from './figures.ts'
import type { Outcome } from './outcome.ts'
import type { TargetName } from './targets.ts'

const BEGIN = '<!-- measured by npm run bench: -->'
const END = '<!-- :measured -->'

/** The rows of README's table that a run fills, in order. */
const ROWS: readonly [TargetName, string][] = [
  ['redisFlexible', 'in Redis, 10,000 keys, 512 requests in flight: rate-limiter-flexible (fixed window)'],
  ['redisUpstash', 'the same: @upstash/ratelimit sliding (approximate)'],
  ['redisAsync', 'the same: async-ratelimiter (exact)'],
  ['redisRolling', 'the same: rolling-rate-limiter (exact)'],
  ['hotMany', 'one hot key, 512 in flight: the fastest of them'],
  ['leased', 'leased mode, one process: rate-limiter-flexible'],
  ['memoryHot', 'in memory, one hot key: rate-limiter-flexible'],
]

/**
 * Puts the figures of a run between the two marks of README.
 * @throws Error where a mark is missing
 */
export function fillReadme(readme: string, { findings }: Outcome): string {
  const [start, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (start < 0 || end < start) throw new Error(`README.md: expected ${BEGIN} and, after it, ${END}`)
  const rows = ROWS.flatMap(([target, what]) => {
    const finding = findings.find((one) => one.target === target)
    if (finding === undefined || 'why' in finding) return []
    const { measured, against } = finding
    const peer = against === undefined ? what : `${what}, ${against}`
    return [[peer, `${figure(measured.median)}x`, `${figure(measured.least)}x to ${figure(measured.most)}x`]]
  })
  const table = markdownTable(['decisions a second of tidegate, against', 'median', 'least to most'], rows)
  return `${readme.slice(0, start)}${BEGIN}\n${table}\n${readme.slice(end)}`
}
