import type { RuleOptions } from 'tidegate'
import type { Unit } from './units.ts'

/** What a file of envoyproxy/ratelimit says, checked: one domain. */
export interface ConfiguredDomain {
  readonly domain: string
  readonly descriptors: readonly ConfiguredDescriptor[]
}

/** One descriptor of a file, with those below it. */
export interface ConfiguredDescriptor {
  readonly key: string
  /** Empty where any value is meant. */
  readonly value: string
  readonly rateLimit: ConfiguredLimit | undefined
  readonly descriptors: readonly ConfiguredDescriptor[]
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly detailedMetric: boolean
  readonly valueToMetric: boolean
  readonly shareThreshold: boolean
  /** Handed to Envoy with requests that pass; undefined where there is none. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/** The `rate_limit` of a descriptor. */
export interface ConfiguredLimit {
  readonly requestsPerUnit: number
  /** Undefined where it is unlimited, or has a `window` of its own. */
  readonly unit: Unit | undefined
  readonly unlimited: boolean
  readonly name: string
  /** The names of limits that do not count where this one does. */
  readonly replaces: readonly string[]
  /** How it is counted, with what is our own in it; undefined where it is unlimited. */
  readonly counting: Pick<RuleOptions, CountingField> | undefined
}

export type CountingField = 'limit' | 'window' | 'algorithm' | 'capacity' | 'resolution' | 'period' | 'burst'
