import { checkFields, checkPattern } from '../options.ts'
import { warnOnce } from '../warning.ts'
import { BUCKETS, CAUSES, codeOf, DecisionCounts, KEY_BUCKETS, type MetricsObserver } from './labels.ts'

interface MetricConfiguration {
  name: string
  help: string
  labelNames: string[]
  buckets?: number[]
  /** Registries; whose they are is the client's matter. */
  registers?: never[]
}

type Labels = Record<string, string>

/** The classes of prom-client that are used: the module itself will do. */
export interface PrometheusClient {
  readonly Counter: new (configuration: MetricConfiguration) => { inc(labels: Labels, value?: number): void }
  readonly Gauge: new (configuration: MetricConfiguration) => { inc(value: number): void; set(value: number): void }
  readonly Histogram: new (configuration: MetricConfiguration) => { observe(labels: Labels, value: number): void }
}

export interface PrometheusOptions {
  /** The registry that has the metrics. Default: the one that prom-client has for all. */
  register?: object
  /** What their names begin with. Default: `tidegate_`, as the service has them. */
  prefix?: string
  /** How many names of rules are told apart, those after them being `other`; 1 to 1,000,000. Default: 1,000. */
  maxRules?: number
}

/**
 * An observer that keeps metrics of prom-client, under the names of the service. One for a registry: hand the same to every
 * store, limiter and gate. Warnings are counted, and given as Node gives them.
 * @param client prom-client: `import * as client from 'prom-client'`
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`; and what prom-client throws of names that are taken
 */
export function prometheusObserver(client: PrometheusClient, options: PrometheusOptions = {}): MetricsObserver {
  const fields = checkFields(options, 'options', ['register', 'prefix', 'maxRules'])
  const prefix = checkPattern(
    fields['prefix'] ?? 'tidegate_',
    'prefix',
    /^[a-zA-Z_:][\w:]*$/,
    'the beginning of a name',
  )
  const registers = options.register === undefined ? {} : { registers: [options.register as never] }
  const metric = (name: string, help: string, ...labelNames: string[]): MetricConfiguration => {
    return { name: prefix + name, help, labelNames, ...registers }
  }
  const decided = new client.Counter(
    metric(
      'decisions_total',
      'Requests by the rule that decided, what it said, and where it was decided.',
      'rule',
      'outcome',
      'source',
    ),
  )
  const seconds = new client.Histogram({
    ...metric('decision_duration_seconds', 'From a call to its decision, by what was called.', 'operation'),
    buckets: [...BUCKETS],
  })
  const batchKeys = new client.Histogram({
    ...metric(
      'store_batch_keys',
      'Keys in each call of Redis that decides: what is asked at the same time travels together.',
    ),
    buckets: [...KEY_BUCKETS],
  })
  const permits = new client.Counter(
    metric(
      'leased_permits_total',
      'Permits of rules with mode: leased, taken from the store, given back unused, and ended unused.',
      'rule',
      'what',
    ),
  )
  const errors = new client.Counter(
    metric('store_errors_total', 'Questions that the store did not answer, by the code of the error.', 'code'),
  )
  const fallbacks = new client.Counter(
    metric('fallbacks_total', 'Decisions that were made without the store, by why it did not decide.', 'cause'),
  )
  const late = new client.Counter(
    metric('late_replies_total', 'Answers of the store that came after the decision had been made without it.'),
  )
  const open = new client.Gauge(
    metric('breaker_open', 'How many stores are not asked, because they have failed too often.'),
  )
  const refusals = new client.Counter(metric('config_refusals_total', 'Rules that were refused, and not taken.'))
  const warnings = new client.Counter(metric('warnings_total', 'Warnings, by their code.', 'code'))
  // A series that begins with its first event has not increased for Prometheus.
  errors.inc({ code: 'ERR_STORE_UNAVAILABLE' }, 0)
  for (const cause of CAUSES) fallbacks.inc({ cause }, 0)
  const counts = new DecisionCounts(fields['maxRules'], (labels) => decided.inc({ ...labels }))
  return {
    decision(event) {
      counts.add(event)
      seconds.observe({ operation: event.operation }, event.durationMs / 1000)
    },
    fallback: ({ cause }) => fallbacks.inc({ cause }),
    lateReply: () => late.inc({}),
    lease: ({ rule, what, permits: count }) => permits.inc({ rule: counts.named(rule), what }, count),
    batch: ({ keys }) => batchKeys.observe({}, keys),
    breakerChange({ from, to }) {
      if (from === 'closed') open.inc(1)
      if (to === 'closed') open.inc(-1)
    },
    storeError: ({ error }) => errors.inc({ code: codeOf(error) }),
    configRefusal: () => refusals.inc({}),
    warning(warning) {
      warnings.inc({ code: warning.code })
      warnOnce(warning)
    },
  }
}
