export interface Target {
  readonly what: string
  readonly must: number
  /** Undefined: there is only a must. */
  readonly aim?: number
  /** Default: `x`, a ratio, as nearly all are: absolute figures say more about the machine than about the code. */
  readonly unit?: 'us' | 'MB' | '%'
  /** Whether a higher or a lower figure is the better one. */
  readonly better: 'higher' | 'lower'
}

export type TargetName = keyof typeof targets

/** What this project holds itself to, in the order of the report. */
export const targets = {
  redisFlexible: higher('Redis, exact, 10k keys, 512 in flight, vs rate-limiter-flexible (fixed window)', 2.8, 4),
  redisUpstash: higher('the same, vs @upstash/ratelimit sliding (approximate)', 3.8, 5.5),
  redisRolling: higher('the same, vs rolling-rate-limiter (exact)', 17, 22),
  redisAsync: higher('the same, vs async-ratelimiter (exact)', 3.5, 5),
  redisFew: higher('Redis, exact, 10k keys, 64 in flight, vs the fastest fixed-window peer', 1.7, 2.5),
  redisFixed: higher('Redis, fixed window, 10k keys, 512 in flight, vs the fastest peer', 4, 6),
  hotFew: higher('Redis, exact, one hot key, 64 in flight, vs the fastest peer', 3, 4.5),
  hotMany: higher('Redis, exact, one hot key, 512 in flight, vs the fastest peer', 10, 18),
  leased: higher('Leased mode, one process, vs rate-limiter-flexible in Redis', 20, 50),
  serverTime: lower('Redis time of an exact decision in batches of 64, vs the ZSET script one by one', 0.35, 0.22),
  arrivalMedian: lower('Redis, 5,000 requests a second, median latency, vs the best peer', 1.3, 1),
  arrivalTail: lower('Redis, 5,000 requests a second, 99th percentile, vs the best peer', 1, 0.8),
  usersRatio: lower('Redis memory of 100k users at 10 an hour, all full, vs the ZSET form', 0.5, 0.35),
  usersMemory: { ...lower('the same, in megabytes', 22, 15), unit: 'MB' },
  thousand: lower('Redis memory of a key with 1,000 admissions, vs a ZSET of `timestamp:id`', 1 / 5, 1 / 9),
  expiry: { ...lower('Redis time of the call at which 100k admissions of a key expire', 300, 50), unit: 'us' },
  clusterBalance: {
    what: 'Cluster of 3 masters, 10k keys: most that the share of a node in the decisions is off a third',
    must: 10,
    unit: '%',
    better: 'lower',
  },
  clusterTime: {
    what: 'Cluster of 3 masters, 10k keys, 512 in flight: Redis time of a decision, vs one node',
    must: 1.15,
    better: 'lower',
  },
  latency: lower('Redis, one in flight, median latency, vs an empty EVALSHA on the same client', 1.25, 1.1),
  footprint: lower('Redis memory of a key with 10 admissions in an hour, vs a ZSET of `timestamp:id`', 0.8, 0.5),
  memoryHot: higher('Memory, `limitSync`, hot key, vs rate-limiter-flexible memory', 8, 15),
  memoryMany: higher('Memory, `limitSync`, 100k keys, vs rate-limiter-flexible memory', 2.5, 3.5),
  matching: lower('Gate, 1,000 rules on different routes, time to match a request, vs 10 rules', 2, 1.3),
  expressMemory: higher('Express, requests per processor second with our limiter in memory, vs none', 0.95, 0.98),
  expressMemoryPeer: higher('the same, vs the cheapest peer in memory', 1, 1.1),
  expressRedis: higher('Express, the same with Redis, vs the cheapest peer in Redis', 1, 1.1),
  fastifyMemory: higher('Fastify, requests per processor second with our limiter in memory, vs none', 0.82, 0.9),
  fastifyMemoryPeer: higher('the same, vs @fastify/rate-limit in memory', 1, 1.1),
  fastifyRedis: higher('Fastify, the same with Redis, vs @fastify/rate-limit in Redis', 1, 1.1),
  httpService: {
    what: 'Service, `POST /v1/limit` with Redis: processor time of a request, vs a Fastify that answers a constant',
    must: 1.3,
    better: 'lower',
  },
  httpBatches: {
    what: 'Service, batches of 100 over HTTP: decisions a second, vs the library alone on the same Redis',
    must: 0.6,
    better: 'higher',
  },
  grpcService: {
    what: 'Service, gRPC ShouldRateLimit: requests per processor second, vs a @grpc/grpc-js that answers a constant',
    must: 1,
    better: 'higher',
  },
} as const satisfies Record<string, Target>

function higher(what: string, must: number, aim: number) {
  return { what, must, aim, better: 'higher' } as const
}

function lower(what: string, must: number, aim: number) {
  return { what, must, aim, better: 'lower' } as const
}

export function targetOf(name: TargetName): Target {
  return targets[name]
}

/** Judged by the figure as measured, not as rounded for the table. */
export function verdictOf({ must, aim, better }: Target, measured: number): string {
  const reaches = (bar: number) => (better === 'higher' ? measured >= bar : measured <= bar)
  if (aim !== undefined && reaches(aim)) return 'aim met'
  return reaches(must) ? 'must met' : '**must missed**'
}

/** How much of the aim is reached, in percent: of twice what may be spent, 50. */
export function shareOfAim({ aim, better }: Target, measured: number): number | undefined {
  if (aim === undefined) return undefined
  return 100 * (better === 'higher' ? measured / aim : aim / measured)
}
