import type { RuleDecision } from 'tidegate'
import type { Charged } from '../envoy/charge.ts'
import type { RequestDescriptor } from '../envoy/request.ts'
import type { OnDenial } from '../events/denial.ts'
import type { Denial } from '../events/service-event.ts'
import type { Outcome } from './decision-counts.ts'
import type { Metrics } from './metrics.ts'
import { REDIS_ERROR, type StatsdCounters } from './statsd-counters.ts'

/** Near its limit is what has used more than this share of it, as envoyproxy/ratelimit has it by default. */
const NEAR = 0.8

/** Counts what was decided of the descriptors of a request. */
export type ObserveLimits = (charged: readonly Charged[], descriptors: readonly RequestDescriptor[]) => void

interface LimitObserverOptions {
  readonly onDenial?: OnDenial
  /** Whether requests pass whatever their limits say. */
  readonly isShadow?: boolean
}

/** By the limit, in Prometheus; and by the names of envoyproxy/ratelimit in statsd, where there is one. */
export function limitObserver(
  metrics: Metrics,
  statsd: StatsdCounters | undefined,
  { onDenial = () => undefined, isShadow = false }: LimitObserverOptions = {},
): ObserveLimits {
  return (charged, descriptors) => {
    if (charged.some(({ source }) => source === 'local')) statsd?.add(REDIS_ERROR, 1)
    if (isShadow && charged.some(isRefused)) statsd?.add('global_shadow_mode', 1)
    for (const [i, { limit, figures, source }] of charged.entries()) {
      if (limit.kind !== 'counted' || figures === undefined) continue
      const { allowed, used } = figures
      const outcome: Outcome = allowed ? 'allowed' : limit.shadowMode ? 'shadowed' : 'refused'
      metrics.count(limit.rule.name, outcome, source)
      if (outcome === 'refused') onDenial(() => ({ ...shown(figures), source, key: keyOf(descriptors[i]) }))
      if (statsd === undefined) continue
      const hits = descriptors[i]?.hits ?? 1
      const count = (name: string): void => statsd.add(`rate_limit.${sanitized(limit.metric)}.${name}`, hits)
      count('total_hits')
      count(allowed ? 'within_limit' : 'over_limit')
      if (allowed && used > limit.requestsPerUnit * NEAR) count('near_limit')
      if (!allowed && limit.shadowMode) count('shadow_mode')
    }
  }
}

function isRefused({ limit, figures }: Charged): boolean {
  return figures?.allowed === false && limit.kind === 'counted' && !limit.shadowMode
}

function shown({ rule, reason, limit, used, retryAfterMs }: RuleDecision): Omit<Denial, 'source' | 'key'> {
  return { rule, reason, limit, used, retryAfterMs }
}

/** The entries of a descriptor; of two with the same key the last. */
function keyOf(descriptor: RequestDescriptor | undefined): Record<string, string> {
  return Object.fromEntries((descriptor?.entries ?? []).map(({ key, value }) => [key, value.slice(0, 128)]))
}

/** Colons and bars end the name of a statsd counter. */
function sanitized(name: string): string {
  return name.replace(/[:|\s]/g, '_')
}
