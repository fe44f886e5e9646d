import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import * as promClient from 'prom-client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createGate } from '../gate.ts'
import { createLimiter } from '../limiter.ts'
import type { Observer } from '../observer.ts'
import { guard } from '../resilience/guarded-store.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { openTelemetryObserver } from './opentelemetry.ts'
import { prometheusObserver } from './prometheus.ts'

afterEach(() => vi.restoreAllMocks())

/** A store of a process that answers nobody. */
function failing() {
  const store = memoryStore()
  const fail = () => Promise.reject(new Error('gone'))
  return Object.assign(store, { decide: fail, ping: fail, decideSync: undefined })
}

/** One of everything that is to be counted. */
async function everything(observer: Observer) {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const gate = createGate({
    observer,
    rules: [
      { name: 'per-user', key: ['user'], limit: 1, window: '1h' },
      { name: 'tried', limit: 1, window: '1h', shadow: true },
    ],
  })
  for (let i = 0; i < 3; i++) gate.limitSync({ user: 'secret-a' })
  await gate.limit({ user: 'secret-b' })
  expect(() => gate.update([{} as never])).toThrow()
  const store = guard(failing(), { observer, breaker: { failures: 2 } })
  const limiter = createLimiter({ name: 'away', limit: 2, window: '1h', store, observer })
  for (let i = 0; i < 3; i++) await limiter.limit('secret-c')
  observer.lateReply?.({ lateMs: 3 })
  observer.warning?.({ code: 'TIDEGATE_CLOCK_SKEW', message: `observed ${Math.random()}` })
  expect(warned).toHaveBeenCalledOnce()
  await limiter.close()
  await store.close()
}

const DECISIONS = [
  ['away', 'allowed', 'local', 2],
  ['away', 'refused', 'local', 1],
  ['per-user', 'allowed', 'store', 2],
  ['per-user', 'refused', 'store', 2],
  ['tried', 'shadowed', 'store', 3],
]

describe('prom-client', () => {
  const registryOf = () => new promClient.Registry()

  test('counts decisions by rule, outcome and source; and what befalls the store', async () => {
    const register = registryOf()
    await everything(prometheusObserver(promClient, { register }))
    const text = await register.metrics()
    const found = [...text.matchAll(/^tidegate_decisions_total\{rule="(.+)",outcome="(.+)",source="(.+)"\} (\d+)$/gm)]
    expect(found.map(([, rule, outcome, source, n]) => [rule, outcome, source, Number(n)]).sort()).toEqual(DECISIONS)
    for (const line of [
      'tidegate_decision_duration_seconds_count{operation="limit"} 7',
      'tidegate_store_errors_total{code="ERR_INTERNAL"} 2',
      'tidegate_fallbacks_total{cause="error"} 2',
      'tidegate_fallbacks_total{cause="breaker"} 1',
      'tidegate_fallbacks_total{cause="deadline"} 0',
      'tidegate_late_replies_total 1',
      'tidegate_breaker_open 1',
      'tidegate_config_refusals_total 1',
      'tidegate_warnings_total{code="TIDEGATE_CLOCK_SKEW"} 1',
    ]) {
      expect(text).toContain(`${line}\n`)
    }
    expect(text).not.toContain('secret')
  })

  test('keeps to its names: only so many rules are told apart', async () => {
    const register = registryOf()
    const observer = prometheusObserver(promClient, { register, maxRules: 2, prefix: 'shop_' })
    const gate = createGate({ rules: [], observer })
    for (const name of ['a', 'b', 'c', 'd', 'a']) {
      gate.update([{ name, limit: 9, window: '1h' }])
      gate.limitSync({})
    }
    const text = await register.metrics()
    const found = [...text.matchAll(/^shop_decisions_total\{rule="(\w+)".* (\d+)$/gm)].map(
      ([, rule, n]) => `${rule} ${n}`,
    )
    expect(found).toEqual(['a 2', 'b 1', 'other 2'])
  })

  test('refuses options that it does not have, and a prefix that begins no name', () => {
    expect(() => prometheusObserver(promClient, { registry: {} } as never)).toThrow('registry: unknown option')
    expect(() => prometheusObserver(promClient, { prefix: '1 x' })).toThrow('prefix: expected')
    expect(() => prometheusObserver(promClient, { maxRules: 0, register: registryOf() })).toThrow('maxRules: expected')
  })

  test('an open breaker that closes is open no more', async () => {
    const register = registryOf()
    const observer = prometheusObserver(promClient, { register })
    const value = async () => (await register.metrics()).match(/^tidegate_breaker_open (\S+)$/m)?.[1]
    expect(await value()).toBe('0')
    observer.breakerChange({ from: 'closed', to: 'open', retryInMs: 100 })
    observer.breakerChange({ from: 'open', to: 'half-open', retryInMs: 0 })
    observer.breakerChange({ from: 'half-open', to: 'open', retryInMs: 200 })
    expect(await value()).toBe('1')
    observer.breakerChange({ from: 'open', to: 'half-open', retryInMs: 0 })
    observer.breakerChange({ from: 'half-open', to: 'closed', retryInMs: 0 })
    expect(await value()).toBe('0')
  })
})

describe('OpenTelemetry', () => {
  async function exported(tell: (observer: Observer) => Promise<void>) {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
    const provider = new MeterProvider({ readers: [reader] })
    await tell(openTelemetryObserver(provider.getMeter('tidegate')))
    await provider.forceFlush()
    const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    await provider.shutdown()
    return new Map(metrics.map(({ descriptor, dataPoints }) => [descriptor.name, { descriptor, dataPoints }]))
  }

  test('counts decisions by rule, outcome and source; and what befalls the store', async () => {
    const metrics = await exported(everything)
    const points = (name: string) =>
      metrics
        .get(name)
        ?.dataPoints.map(({ attributes, value }) => [...Object.values(attributes), value])
        .sort()
    expect(points('tidegate.decisions')).toEqual(DECISIONS)
    expect(points('tidegate.store.errors')).toEqual([['ERR_INTERNAL', 2]])
    expect(points('tidegate.fallbacks')).toEqual([
      ['breaker', 1],
      ['error', 2],
    ])
    expect(points('tidegate.late_replies')).toEqual([[1]])
    expect(points('tidegate.breaker.open')).toEqual([[1]])
    expect(points('tidegate.config.refusals')).toEqual([[1]])
    expect(points('tidegate.warnings')).toEqual([['TIDEGATE_CLOCK_SKEW', 1]])
    const duration = metrics.get('tidegate.decision.duration')
    expect(duration?.descriptor.unit).toBe('s')
    expect(duration?.dataPoints).toMatchObject([{ attributes: { 'tidegate.operation': 'limit' }, value: { count: 7 } }])
    expect(JSON.stringify([...metrics])).not.toContain('secret')
  })
})

describe('docs/reference/metrics.md', () => {
  test('has every metric by both names, and no other', async () => {
    const { readFileSync } = await import('node:fs')
    const page = readFileSync(`${import.meta.dirname}/../../../../docs/reference/metrics.md`, 'utf8')
    const rows = [...page.matchAll(/^\| `(tidegate_\w+)` +\| `(tidegate[\w.]+)` +\|/gm)]
    const register = new promClient.Registry()
    prometheusObserver(promClient, { register })
    const names = (await register.getMetricsAsJSON()).map(({ name }) => name)
    expect(rows.map(([, name]) => name).sort()).toEqual(names.sort())
    const instruments: string[] = []
    const made = (name: string) => {
      instruments.push(name)
      return { add: () => undefined, record: () => undefined }
    }
    openTelemetryObserver({ createCounter: made, createUpDownCounter: made, createHistogram: made })
    expect(rows.map(([, , name]) => name).sort()).toEqual(instruments.sort())
  })
})
