import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from 'tidegate'
import { type Limits, loadLimits } from '../envoy/limits.ts'
import { configuredRateLimiting, type RateLimiting } from '../envoy/rate-limiting.ts'
import type { AnswerSettings } from '../envoy/settings.ts'
import type { ObserveLimits } from '../metrics/limit-counters.ts'

const plainSettings: AnswerSettings = {
  shadowMode: false,
  quotaMode: false,
  headers: undefined,
  dynamicMetadata: false,
  counting: 'together',
}

/** What a file of envoyproxy/ratelimit with this text makes of requests. */
export function limitingByText(
  text: string,
  store: Store,
  settings: Partial<AnswerSettings> = {},
  observe: ObserveLimits = () => undefined,
): { rateLimiting: RateLimiting; limits: Limits } {
  const loaded = loadText(text)
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  const { limits } = loaded
  const answering = { ...plainSettings, ...settings }
  return { rateLimiting: configuredRateLimiting({ store, limits: () => limits, settings: answering, observe }), limits }
}

function loadText(text: string): ReturnType<typeof loadLimits> {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-limits-'))
  try {
    writeFileSync(join(folder, 'limits.yaml'), text)
    return loadLimits(join(folder, 'limits.yaml'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
