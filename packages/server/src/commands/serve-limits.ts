import type { Logger } from 'pino'
import type { Gate, Store } from 'tidegate'
import { type Limits, loadLimits } from '../envoy/limits.ts'
import { configuredRateLimiting, type RateLimiting } from '../envoy/rate-limiting.ts'
import { ruleLimiting } from '../envoy/rule-limiting.ts'
import { ServedLimits } from '../envoy/served-limits.ts'
import type { OnDenial } from '../events/denial.ts'
import type { EventHub } from '../events/event-hub.ts'
import { countedCalls } from '../metrics/call-counters.ts'
import { limitObserver, type ObserveLimits } from '../metrics/limit-counters.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { StatsdCounters } from '../metrics/statsd-counters.ts'
import type { Settings } from '../settings/settings.ts'

/** Reads the configuration of envoyproxy/ratelimit, where the settings name one. */
export function readLimits(settings: Settings): ReturnType<typeof loadLimits> | undefined {
  return settings.ratelimitConfig === '' ? undefined : loadLimits(settings.ratelimitConfig, loadOptions(settings))
}

interface Observers {
  readonly logger: Logger
  readonly metrics: Metrics
  readonly statsd: StatsdCounters | undefined
  readonly events: EventHub
  readonly onDenial: OnDenial
}

/** Serves these limits, and what their files say later. */
export function serveLimits(
  settings: Settings,
  limits: Limits,
  { logger, metrics, statsd, events }: Observers,
): ServedLimits {
  metrics.serves('ratelimit', limits.version)
  const told = (result: 'accepted' | 'refused', version: string): void => {
    metrics.reloads.inc({ source: 'ratelimit', result })
    events.tell('config', () => ({ source: 'ratelimit', result, version }))
    metrics.serves('ratelimit', version)
    statsd?.add(result === 'accepted' ? 'config_load_success' : 'config_load_error', 1)
  }
  return new ServedLimits(settings.ratelimitConfig, loadOptions(settings), limits, logger, told)
}

/** How rate limit requests are answered: by these limits or, where there are none, by the rules. */
export function rateLimitingOf(
  settings: Settings,
  gate: Gate,
  store: Store,
  served: ServedLimits | undefined,
  { metrics, statsd, onDenial }: Observers,
): RateLimiting {
  const counted = (answer: RateLimiting) => (statsd === undefined ? answer : countedCalls(answer, statsd))
  if (served === undefined) return counted(ruleLimiting(gate))
  const observe: ObserveLimits = limitObserver(metrics, statsd, {
    onDenial,
    isShadow: settings.ratelimitShadow,
  })
  const answer = configuredRateLimiting({
    store,
    limits: () => served.now,
    observe,
    settings: {
      shadowMode: settings.ratelimitShadow,
      quotaMode: settings.ratelimitQuota,
      headers: settings.ratelimitHeaders ?? undefined,
      dynamicMetadata: settings.ratelimitMetadata,
      counting: settings.ratelimitCounting,
    },
  })
  return counted(answer)
}

function loadOptions({ ratelimitMergeDomains }: Settings): { mergeDomains: boolean } {
  return { mergeDomains: ratelimitMergeDomains }
}
