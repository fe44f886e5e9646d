import { invalid } from '../errors.ts'
import type { MaybePromise } from '../http/maybe-promise.ts'
import type { Refusal } from '../http/problem.ts'
import { RequestLimit } from '../http/request-limit.ts'
import type { RequestLimitOptions, RequestReader } from '../http/request-options.ts'

export { type LimitFetchOptions, limitFetch, type OutgoingLimiter } from '../http/limit-fetch.ts'

/** A handler of requests: a route handler of Next.js, what Bun and Deno serve, a worker's. */
export type FetchHandler<Rest extends readonly unknown[]> = (request: Request, ...rest: Rest) => MaybePromise<Response>

export interface RateLimitOptions<Rest extends readonly unknown[] = []> extends RequestLimitOptions<Request, Response> {
  /**
   * The address of the other end of the connection, of which a `Request` says nothing: in Bun
   * `(request, server) => server.requestIP(request)?.address`, in Deno `(_, info) => info.remoteAddr.hostname`.
   * One of this, `keyGenerator` and `trustProxy` is needed.
   */
  address?: (request: Request, ...rest: Rest) => string | undefined
  /** Answers a refused request in the place of the problem document; the headers are added to it. */
  handler?: (request: Request, refusal: Refusal) => MaybePromise<Response>
}

/**
 * Limits a handler of requests: `export const GET = rateLimit({ limit: 100, window: '1m', trustProxy: 1 })(handler)`.
 * It imports no module of Node.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`
 */
export function rateLimit<Rest extends readonly unknown[] = []>(
  options: RateLimitOptions<Rest>,
): (handle: FetchHandler<Rest>) => (request: Request, ...rest: Rest) => Promise<Response> {
  const { address, handler, keyGenerator, trustProxy, gate } = options
  if (address === undefined && keyGenerator === undefined && trustProxy === undefined && gate === undefined) {
    const expected = 'address, keyGenerator or trustProxy, because a Request does not say where it came from'
    throw invalid('ERR_INVALID_OPTION', 'address', expected, address)
  }
  const restOf = new WeakMap<Request, Rest>()
  const reader: RequestReader<Request> = {
    peer: (request) => address?.(request, ...(restOf.get(request) as Rest)),
    header: ({ headers }, name) => headers.get(name) ?? undefined,
    method: ({ method }) => method,
    route: ({ url }) => new URL(url).pathname,
    identity: (request) => request,
    expectsAddress: true,
  }
  const limit = new RequestLimit<Request, Response>(options, reader, ['handler', 'address'])
  return (handle) =>
    async (request, ...rest) => {
      restOf.set(request, rest)
      const { headers, refusal, charge } = await limit.check(request)
      if (refusal !== undefined) {
        const { body, status, contentType } = refusal
        if (handler !== undefined) return withHeaders(await handler(request, refusal), headers)
        return new Response(body, { status, headers: { ...headers, 'Content-Type': contentType } })
      }
      let response: Response | undefined
      try {
        response = await handle(request, ...rest)
      } finally {
        if (charge !== undefined) {
          const ended = { whole: response !== undefined, status: response?.status ?? 500 }
          await limit.settle(request, response as Response, charge, ended)
        }
      }
      return withHeaders(response, headers)
    }
}

/** Below are answers that are the runtime's: one opens a WebSocket, one is a network error. */
const LEAST_STATUS = 200

/** The answer with the headers added; a copy where its own cannot be changed, as those of one that was fetched. */
function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  if (response.status < LEAST_STATUS) return response
  try {
    for (const name in headers) response.headers.set(name, headers[name] as string)
    return response
  } catch {
    const copy = new Response(response.body, response)
    for (const name in headers) copy.headers.set(name, headers[name] as string)
    return copy
  }
}
