import { type Condition, createGate } from 'tidegate'
import type { Plan } from '../plan.ts'
import { read } from '../reading.ts'
import { tableOf } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { interleave, ratio, type Series, spread } from '../rounds.ts'

const FEW = 10
const MANY = 1000
const BURST = 256
/** Requests are asked in a fixed order that goes through all rules before it comes back; prime to both numbers. */
const STRIDE = 7

/** Conditions of a thousand different routes or networks, and a request that meets those of one alone. */
const WAYS: { by: string; condition: (i: number) => Record<string, Condition>; request: (i: number) => Request }[] = [
  { by: 'value', condition: (i) => ({ route: `/route-${i}` }), request: (i) => ({ route: `/route-${i}` }) },
  {
    by: 'prefix',
    condition: (i) => ({ route: { prefix: `/route-${i}/` } }),
    request: (i) => ({ route: `/route-${i}/order` }),
  },
  {
    by: 'glob',
    condition: (i) => ({ route: { glob: `/route-${i}/*/order` } }),
    request: (i) => ({ route: `/route-${i}/7/order` }),
  },
  {
    by: 'network',
    condition: (i) => ({ ip: { cidr: `10.${i >> 8}.${i & 255}.0/24` } }),
    request: (i) => ({ ip: `10.${i >> 8}.${i & 255}.7` }),
  },
]

type Request = Record<string, string>

/** What finding the rules of a request costs by how many rules there are, of which each request meets one. */
export async function measureMatching(plan: Plan): Promise<Outcome> {
  const contestants = WAYS.flatMap(({ by, condition, request }) => {
    return [FEW, MANY].map((rules) => {
      const decide = gateOf(rules, condition, request)
      return { name: `${by}, ${rules} rules`, measure: () => decide(plan.seconds) }
    })
  })
  const series = await interleave(contestants, plan.rounds)
  const of = (by: string, rules: number) => series.find(({ name }) => name === `${by}, ${rules} rules`) as Series
  return {
    findings: [{ target: 'matching', measured: ratio(of('value', MANY), of('value', FEW)) }],
    tables: [
      tableOf('Gate, the time to match a request', [
        ...series.map(({ name, values }) => {
          return { what: `by ${name}`, measured: spread(values), unit: 'us' } as const
        }),
        ...WAYS.map(({ by }) => {
          const measured = ratio(of(by, MANY), of(by, FEW))
          return { what: `${MANY} rules by ${by}, vs ${FEW}`, measured, unit: 'x' } as const
        }),
      ]),
    ],
    charts: {},
  }
}

/**
 * Matches requests for so many seconds; answers the microseconds of one. The rule that a request meets counts by a dimension
 * that it lacks, and so passes it by: no store is asked, and all the time goes into finding the rule.
 */
function gateOf(count: number, condition: (i: number) => Record<string, Condition>, request: (i: number) => Request) {
  const rules = Array.from({ length: count }, (_, i) => {
    return { name: `rule-${i}`, match: condition(i), key: ['user'], limit: 1, window: '1s' }
  })
  const gate = createGate({ rules })
  const requests = Array.from({ length: MANY }, (_, i) => request((i * STRIDE) % count))
  // Else it would be the fastest to find no rule.
  gate.limitSync(requests[0] as Request)
  if (gate.skipped().size !== 1) throw new Error('expected a request to meet exactly one rule')
  return (seconds: number) => {
    const start = performance.now()
    let asked = 0
    while (performance.now() - start < seconds * 1000) {
      for (let i = 0; i < BURST; i++) {
        const { allowed, remaining, retryAfterMs } = gate.peekSync(requests[asked++ % MANY] as Request)
        read(allowed, remaining, retryAfterMs)
      }
    }
    return ((performance.now() - start) * 1000) / asked
  }
}
