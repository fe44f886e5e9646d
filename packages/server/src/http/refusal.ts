import type { Decision } from 'tidegate'

/**
 * The body of a refusal: the problem type of draft-ietf-httpapi-ratelimit-headers. Gateways hand it on to the client. Rules
 * in shadow have violated nothing.
 */
export function refusalBody({ rules }: Decision, status: number): string {
  return JSON.stringify({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too many requests',
    status,
    'violated-policies': rules.filter(({ allowed, shadow }) => !allowed && shadow !== true).map(({ rule }) => rule),
  })
}
