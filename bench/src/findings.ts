import type { Spread } from './rounds.ts'

/** A row of the table, measured. */
export interface Finding {
  readonly target: keyof typeof targets
  readonly measured: Spread
}

/** A figure that puts the others into perspective; there is no target for it. */
export interface Reference {
  readonly what: string
  readonly measured: Spread
  readonly unit: 'M/s' | 'k/s' | 'us' | 'B' | 'x'
}

/** What a section of the benchmark hands to the report. */
export interface Outcome {
  readonly findings: readonly Finding[]
  readonly references: readonly Reference[]
}

export interface Target {
  readonly what: string
  readonly must: number
  readonly aim: number
  /** Whether a higher or a lower ratio is the better one. */
  readonly better: 'higher' | 'lower'
}

/** Every target is a ratio: absolute figures say more about the machine than about the code. */
export const targets = {
  memoryHot: {
    what: 'Memory, `limitSync`, hot key, vs rate-limiter-flexible memory',
    must: 8,
    aim: 15,
    better: 'higher',
  },
  memoryMany: {
    what: 'Memory, `limitSync`, 100k keys, vs rate-limiter-flexible memory',
    must: 2.5,
    aim: 3.5,
    better: 'higher',
  },
  redisFlexible: {
    what: 'Redis, 10k keys, 512 in flight, vs rate-limiter-flexible (fixed window)',
    must: 2.3,
    aim: 3.5,
    better: 'higher',
  },
  redisRolling: {
    what: 'Redis, 10k keys, 512 in flight, vs rolling-rate-limiter (ZSET)',
    must: 14,
    aim: 20,
    better: 'higher',
  },
  matching: {
    what: 'Gate, 1,000 rules on different routes, time to match a request, vs 10 rules',
    must: 2,
    aim: 1.3,
    better: 'lower',
  },
  latency: {
    what: 'Redis, one in flight, median latency, vs an empty EVALSHA on the same client',
    must: 1.25,
    aim: 1.1,
    better: 'lower',
  },
  footprint: {
    what: 'Redis memory of a key with 10 admissions in an hour, vs a ZSET of `timestamp:id`',
    must: 0.8,
    aim: 0.5,
    better: 'lower',
  },
  expressMemory: {
    what: 'Express, requests per processor second with our limiter in memory, vs none',
    must: 0.95,
    aim: 0.98,
    better: 'higher',
  },
  fastifyMemory: {
    what: 'Fastify, requests per processor second with our limiter in memory, vs none',
    must: 0.82,
    aim: 0.9,
    better: 'higher',
  },
  expressRedis: {
    what: 'Express, requests per processor second with our limiter in Redis, vs the fastest peer in Redis',
    must: 1,
    aim: 1.1,
    better: 'higher',
  },
  fastifyRedis: {
    what: 'Fastify, requests per processor second with our limiter in Redis, vs @fastify/rate-limit in Redis',
    must: 1,
    aim: 1.1,
    better: 'higher',
  },
} as const satisfies Record<string, Target>
