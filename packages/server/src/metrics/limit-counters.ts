import type { Charged } from '../envoy/charge.ts'
import type { RequestDescriptor } from '../envoy/request.ts'
import type { Outcome } from './decision-counts.ts'
import type { Metrics } from './metrics.ts'
import type { StatsdCounters } from './statsd-counters.ts'

/** Near its limit is what has used more than this share of it, as envoyproxy/ratelimit has it by default. */
const NEAR = 0.8

/** Counts what was decided of the descriptors of a request. */
export type ObserveLimits = (charged: readonly Charged[], descriptors: readonly RequestDescriptor[]) => void

/** By the limit, in Prometheus; and by the names of envoyproxy/ratelimit in statsd, where there is one. */
export function limitObserver(metrics: Metrics, statsd: StatsdCounters | undefined): ObserveLimits {
  return (charged, descriptors) => {
    for (const [i, { limit, figures, source }] of charged.entries()) {
      if (limit.kind !== 'counted' || figures === undefined) continue
      const { allowed, used } = figures
      const outcome: Outcome = allowed ? 'allowed' : limit.shadowMode ? 'shadowed' : 'refused'
      metrics.count(limit.rule.name, outcome, source)
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

/** Colons and bars end the name of a statsd counter. */
function sanitized(name: string): string {
  return name.replace(/[:|\s]/g, '_')
}
