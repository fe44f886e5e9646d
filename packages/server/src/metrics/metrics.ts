import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Decision, FallbackCause, Source } from 'tidegate'

/** Seconds. A decision in memory takes tens of microseconds, one of Redis about a millisecond. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1]

/** Why a store does not decide. */
const CAUSES: readonly FallbackCause[] = ['deadline', 'breaker', 'error', 'overload']

/** What a rule has said of a request. */
export type Outcome = 'allowed' | 'refused' | 'shadowed'

/**
 * Everything that `/metrics` shows. Labels hold names of the configuration and of this code, never what a client sends, so
 * that there are never more series than these allow.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly #registers = [this.registry]

  readonly decisions = new Counter({
    name: 'tidegate_decisions_total',
    help: 'Requests by the rule that decided, what it said, and where it was decided.',
    labelNames: ['rule', 'outcome', 'source'] as const,
    registers: this.#registers,
  })
  readonly requestSeconds = new Histogram({
    name: 'tidegate_request_duration_seconds',
    help: 'From a request over HTTP or gRPC to its answer.',
    labelNames: ['endpoint'] as const,
    buckets: BUCKETS,
    registers: this.#registers,
  })
  readonly storeSeconds = new Histogram({
    name: 'tidegate_store_duration_seconds',
    help: 'From a question to the store to its answer, its place in the batch included.',
    labelNames: ['operation'] as const,
    buckets: BUCKETS,
    registers: this.#registers,
  })
  readonly errors = new Counter({
    name: 'tidegate_errors_total',
    help: 'Requests that were answered with an error, by its code.',
    labelNames: ['code'] as const,
    registers: this.#registers,
  })
  readonly storeErrors = new Counter({
    name: 'tidegate_store_errors_total',
    help: 'Questions that the store did not answer, by the code of the error.',
    labelNames: ['code'] as const,
    registers: this.#registers,
  })
  readonly settlements = new Counter({
    name: 'tidegate_settlements_total',
    help: 'Reservations that were to be ended, by how, and whether there was one.',
    labelNames: ['operation', 'settled'] as const,
    registers: this.#registers,
  })
  readonly fallbacks = new Counter({
    name: 'tidegate_fallbacks_total',
    help: 'Decisions that were made without the store, by why it did not decide.',
    labelNames: ['cause'] as const,
    registers: this.#registers,
  })
  readonly lateReplies = new Counter({
    name: 'tidegate_late_replies_total',
    help: 'Answers of the store that came after the decision had been made without it.',
    registers: this.#registers,
  })
  readonly leasedPermits = new Counter({
    name: 'tidegate_leased_permits_total',
    help: 'Permits of rules with mode: leased, taken from the store, given back unused, and ended unused.',
    labelNames: ['rule', 'what'] as const,
    registers: this.#registers,
  })
  readonly breakerOpen = new Gauge({
    name: 'tidegate_breaker_open',
    help: '1 while the store is not asked, because it has failed too often.',
    registers: this.#registers,
  })
  readonly reloads = new Counter({
    name: 'tidegate_config_reloads_total',
    help: 'How often a configuration was read again, and whether it was taken.',
    labelNames: ['source', 'result'] as const,
    registers: this.#registers,
  })
  readonly config = new Gauge({
    name: 'tidegate_config_info',
    help: '1 for the version of each configuration that is served.',
    labelNames: ['source', 'version'] as const,
    registers: this.#registers,
  })
  readonly #versions = new Map<string, string>()

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    this.storeErrors.inc({ code: 'ERR_STORE_UNAVAILABLE' }, 0)
    for (const cause of CAUSES) this.fallbacks.inc({ cause }, 0)
  }

  /** Counts a request by the rule that decided, and besides by each rule in shadow that would have refused it. */
  decided({ rule, allowed, source, rules }: Decision): void {
    this.#count(rule ?? 'none', allowed ? 'allowed' : 'refused', source)
    for (const figures of rules) {
      if (figures.shadow === true && !figures.allowed) this.#count(figures.rule, 'shadowed', source)
    }
  }

  #count(rule: string, outcome: Outcome, source: Source): void {
    this.decisions.inc({ rule, outcome, source })
  }

  /** Says which version of a configuration is served from now on. */
  serves(source: 'rules' | 'ratelimit', version: string): void {
    this.config.remove({ source, version: this.#versions.get(source) ?? version })
    this.#versions.set(source, version)
    this.config.set({ source, version }, 1)
    // A series that begins with its first refusal has not increased for Prometheus.
    for (const result of ['accepted', 'refused']) this.reloads.inc({ source, result }, 0)
  }

  /** Shows what a memory store holds, looked at with each scrape. */
  lookAtMemory(stats: () => { keys: number; evicted: number }): void {
    const registers = this.#registers
    new Gauge({
      name: 'tidegate_memory_keys',
      help: 'Keys that the memory store holds.',
      registers,
      collect() {
        this.set(stats().keys)
      },
    })
    new Gauge({
      name: 'tidegate_memory_evicted_keys',
      help: 'Keys that the memory store has forgotten while they still counted, for want of room.',
      registers,
      collect() {
        this.set(stats().evicted)
      },
    })
  }
}
