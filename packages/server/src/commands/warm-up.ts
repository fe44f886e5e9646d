import { pino } from 'pino'
import { createGate, memoryStore, type RuleOptions } from 'tidegate'
import { readTokens, type Tokens } from '../admin/tokens.ts'
import { ruleLimiting } from '../envoy/rule-limiting.ts'
import { EventHub } from '../events/event-hub.ts'
import { createService } from '../http/service.ts'
import { Metrics } from '../metrics/metrics.ts'

/** So many of each: from then on a decision takes what it will take. */
const REQUESTS = 30

/**
 * Decides some requests in a service of its own, of which nothing is counted, measured or logged. The first decisions of a
 * process take longer than a gateway waits (20 ms), because nothing of it has been compiled yet.
 */
export async function warmUp(rules: readonly RuleOptions[]): Promise<void> {
  const store = memoryStore()
  const gate = createGate({ rules, store })
  const service = createService({
    ...{ gate, store, rateLimiting: ruleLimiting(gate), limits: () => undefined, isTrusted: () => true },
    ...{ tokens: readTokens('') as Tokens, events: new EventHub(), metrics: new Metrics({ ofProcess: false }) },
    forwardAuth: () => ({ headers: {}, denyStatus: 429 }),
    logger: pino({ level: 'silent' }),
    lifecycle: { phase: 'serving' },
  })
  const descriptor = {
    route: '/',
    method: 'GET',
    host: 'localhost',
    ip: '192.0.2.1',
    user: 'warm-up',
    tenant: 'warm-up',
  }
  for (let i = 0; i < REQUESTS; i++) {
    await service.inject({ method: 'POST', url: '/v1/limit', payload: { descriptor } })
    await service.inject({ method: 'GET', url: '/auth', headers: { 'x-forwarded-for': descriptor.ip } })
  }
  await service.close()
  await gate.close()
  await store.close()
}
