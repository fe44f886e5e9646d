import type { Context, MiddlewareHandler, Next } from 'hono'
import type { MaybePromise } from '../http/maybe-promise.ts'
import type { Refusal } from '../http/problem.ts'
import { RequestLimit } from '../http/request-limit.ts'
import type { RequestLimitOptions, RequestReader } from '../http/request-options.ts'

export interface RateLimitOptions extends RequestLimitOptions<Context, Context> {
  /**
   * The address of the other end of the connection, where the runtime tells it in a way of its own, e.g.
   * `(c) => c.req.header('cf-connecting-ip')`. Default: what Node, Deno and Bun say.
   */
  address?: (context: Context) => string | undefined
  /** Answers a refused request in the place of the problem document; the headers are added to it. */
  handler?: (context: Context, next: Next, refusal: Refusal) => MaybePromise<Response>
}

/** What runtimes hand to an application besides the request. */
interface RuntimeEnvironment {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
  readonly remoteAddr?: { readonly hostname?: string }
  readonly requestIP?: (request: Request) => { readonly address: string } | null
  readonly server?: RuntimeEnvironment
}

const SWITCHING_PROTOCOLS = 101

/**
 * A middleware for Hono 4: `app.use(rateLimit({ limit: 100, window: '1m' }))`. It imports no module of Node.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`
 */
export function rateLimit(options: RateLimitOptions): MiddlewareHandler {
  const { address = peerOf, handler } = options
  const reader: RequestReader<Context> = {
    peer: address,
    header: (context, name) => context.req.header(name),
    method: (context) => context.req.method,
    route: (context) => context.req.path,
    identity: (context) => context.req.raw,
    expectsAddress: true,
  }
  const limit = new RequestLimit(options, reader, ['handler', 'address'])
  return async (context, next) => {
    const { headers, refusal, charge } = await limit.check(context)
    if (refusal === undefined) {
      await next()
    } else {
      const { body, status, contentType } = refusal
      const answer = new Response(body, { status, headers: { 'Content-Type': contentType } })
      context.res = handler === undefined ? answer : await handler(context, next, refusal)
    }
    // The answer that opens a WebSocket is the runtime's, and cannot be changed.
    if (context.res.status !== SWITCHING_PROTOCOLS) {
      for (const name in headers) context.header(name, headers[name] as string)
    }
    if (charge === undefined) return
    await limit.settle(context, context, charge, { whole: context.error === undefined, status: context.res.status })
  }
}

function peerOf({ env, req }: Context): string | undefined {
  const { incoming, remoteAddr, requestIP, server } = (env ?? {}) as RuntimeEnvironment
  if (incoming !== undefined) return incoming.socket?.remoteAddress
  if (remoteAddr !== undefined) return remoteAddr.hostname
  if (typeof requestIP === 'function') return requestIP.call(env, req.raw)?.address
  return server?.requestIP?.(req.raw)?.address
}
