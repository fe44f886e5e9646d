import type { Metric, Registry } from 'prom-client'

/** Where durations with one label are kept. */
export interface Timer {
  /** Seconds. */
  observe(duration: number): void
}

interface Options {
  readonly name: string
  readonly help: string
  readonly label: string
  /** Upper bounds in seconds, the smallest first. */
  readonly buckets: readonly number[]
  readonly registry: Registry
}

/**
 * A histogram of Prometheus with one label. That of prom-client makes a key of its labels at each observation, which takes
 * longer than much of what is measured; here it is made once, and an observation adds to three numbers.
 */
export class DurationHistogram {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #label: string
  readonly #buckets: readonly number[]
  readonly #durations = new Map<string, Durations>()

  constructor({ name, help, label, buckets, registry }: Options) {
    this.name = name
    this.help = help
    this.#label = label
    this.#buckets = buckets
    // All that a registry asks of a metric is `get` and `reset`; its type names the classes of the package.
    registry.registerMetric(this as unknown as Metric)
  }

  /** Of the durations with this value of the label. */
  timer(value: string): Timer {
    const there = this.#durations.get(value)
    if (there !== undefined) return there
    const made = new Durations(this.#buckets)
    this.#durations.set(value, made)
    return made
  }

  /** As the registry shows it; labels without an observation are left out. */
  get() {
    const { name, help, type, aggregator } = this
    const values = [...this.#durations].flatMap(([value, durations]) => this.#valuesOf(value, durations))
    return Promise.resolve({ name, help, type, aggregator, values })
  }

  reset(): void {
    this.#durations.clear()
  }

  #valuesOf(value: string, { counts, count, sum }: Durations) {
    if (count === 0) return []
    const own = { [this.#label]: value }
    let below = 0
    const buckets = [...this.#buckets, '+Inf'].map((le, i) => {
      below += counts[i] as number
      return { labels: { le, ...own }, value: below, metricName: `${this.name}_bucket` }
    })
    return [
      ...buckets,
      { labels: own, value: sum, metricName: `${this.name}_sum` },
      { labels: own, value: count, metricName: `${this.name}_count` },
    ]
  }
}

class Durations implements Timer {
  readonly #buckets: readonly number[]
  /** For each bucket what is in it and not in one before; the last is for what is in none. */
  readonly counts: Float64Array
  sum = 0
  count = 0

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets
    this.counts = new Float64Array(buckets.length + 1)
  }

  observe(duration: number): void {
    const buckets = this.#buckets
    let i = 0
    while (i < buckets.length && duration > (buckets[i] as number)) i++
    ;(this.counts[i] as number)++
    this.sum += duration
    this.count++
  }
}
