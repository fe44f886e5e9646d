import type { Decision } from '../decision.ts'

/** The problem type of a quota that is used up, of draft-ietf-httpapi-ratelimit-headers. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded'

/** What a refused request is answered. */
export interface Refusal {
  /** 429, or 503 where the store could not be asked. */
  readonly status: number
  /** Every header of the answer but its type. */
  readonly headers: Readonly<Record<string, string>>
  /** `application/problem+json`, or `text/plain` where the client asked for text. */
  readonly contentType: string
  readonly body: string
  /** The same as a value: a problem document (RFC 9457). */
  readonly problem: Problem
  /** Undefined where the store could not be asked. */
  readonly decision: Decision | undefined
}

/** A problem document. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** The names of the limits that refused. */
  readonly 'violated-policies'?: readonly string[]
}

/** The answer to a request that is over a limit. */
export function refusalOf(decision: Decision, headers: Record<string, string>, accept: string | undefined): Refusal {
  const violated = decision.rules.filter(({ allowed, shadow }) => !allowed && shadow !== true).map(({ rule }) => rule)
  const wait = headers['Retry-After'] ?? (decision.retryAfterMs === null ? undefined : secondsOf(decision.retryAfterMs))
  const problem: Problem = {
    type: QUOTA_EXCEEDED,
    title: 'Too many requests',
    status: 429,
    detail: detailOf(decision, wait),
    'violated-policies': violated,
  }
  return answer(problem, headers, accept, decision)
}

function detailOf({ reason }: Decision, wait: string | undefined): string {
  if (reason === 'missing_dimension') return 'This request lacks what its quota is counted by.'
  return wait === undefined ? 'This request exceeds its quota.' : `Over the limit. Try again in ${wait} s.`
}

/** The answer where the limits could not be asked, and nobody is let through unasked. */
export function unavailable(headers: Record<string, string>, accept: string | undefined, decision?: Decision): Refusal {
  const problem: Problem = {
    type: 'about:blank',
    title: 'Service unavailable',
    status: 503,
    detail: 'The limits of this service cannot be checked at the moment.',
  }
  return answer(problem, { ...headers, 'Retry-After': headers['Retry-After'] ?? '1' }, accept, decision)
}

function answer(
  problem: Problem,
  headers: Record<string, string>,
  accept: string | undefined,
  decision: Decision | undefined,
): Refusal {
  const text = wantsText(accept)
  const contentType = text ? 'text/plain; charset=utf-8' : 'application/problem+json'
  const body = text ? `${problem.title}. ${problem.detail}\n` : JSON.stringify(problem)
  return { status: problem.status, headers, contentType, body, problem, decision }
}

/** Whether the client asked for text, as browsers do, and not for JSON. */
function wantsText(accept: string | undefined): boolean {
  return accept !== undefined && /\btext\/(?:plain|html|\*)/i.test(accept) && !/[/+]json\b/i.test(accept)
}

function secondsOf(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}
