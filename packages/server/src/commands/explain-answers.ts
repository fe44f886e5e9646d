import { pino } from 'pino'
import { createGate, type Decision, type Descriptor, type RuleOptions, TidegateError } from 'tidegate'
import { readRedisUrl } from '../settings/redis-url.ts'
import { settings } from '../settings/settings.ts'
import { openStore } from '../store/open-store.ts'
import { refusal } from './arguments.ts'

/** Who is asked what would be decided now, if anybody. */
export interface Answers {
  readonly redis: string | undefined
  readonly server: string | undefined
  readonly rules: RuleOptions[]
}

/** How long a service may take to answer. Milliseconds. */
const PATIENCE_MS = 5000

/**
 * What would be decided now; undefined where nobody is to be asked. Counts nothing.
 * @throws ServiceError `ERR_INVALID_SETTING`; TidegateError as `gate.peek`
 */
export async function answersOf(
  { redis, server, rules }: Answers,
  descriptor: Descriptor,
  cost: number,
): Promise<Decision | undefined> {
  if (redis !== undefined && server !== undefined) throw refusal('explain', 'expected --redis or --server, not both')
  if (redis !== undefined) return peekAtRedis(redis, rules, descriptor, cost)
  if (server !== undefined) return peekAtServer(server, descriptor, cost)
  return undefined
}

async function peekAtRedis(url: string, rules: RuleOptions[], descriptor: Descriptor, cost: number): Promise<Decision> {
  const read = readRedisUrl(url) ?? undefined
  if (read === undefined) throw refusal('explain', `--redis: expected ${settings.redis.expected}`)
  const { store, close } = await openStore(read, pino({ level: 'silent' }), null)
  try {
    return await createGate({ rules, store }).peek(descriptor, { cost })
  } finally {
    await close()
  }
}

async function peekAtServer(url: string, descriptor: Descriptor, cost: number): Promise<Decision> {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw refusal('explain', '--server: expected the URL of a service, such as http://localhost:8080')
  }
  const peek = new URL('v1/peek', url.endsWith('/') ? url : `${url}/`)
  const headers = { 'content-type': 'application/json' }
  const init = {
    method: 'POST',
    headers,
    body: JSON.stringify({ descriptor, cost }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  }
  const answer = await fetch(peek, init).catch((error: Error) => {
    throw unavailable(`${peek}: no answer (${((error.cause as Error | undefined) ?? error).message})`)
  })
  const body = (await answer.json().catch(() => ({}))) as Partial<Decision> & { detail?: string }
  if (answer.status === 200 && Array.isArray(body.rules)) return body as Decision
  throw unavailable(`${peek}: answered ${answer.status} ${body.detail ?? 'without a decision'}`)
}

function unavailable(message: string): TidegateError {
  return new TidegateError('ERR_STORE_UNAVAILABLE', message)
}
