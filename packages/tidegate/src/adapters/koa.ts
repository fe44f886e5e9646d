import type { Context, Middleware, Next } from 'koa'
import { nodeHeader, settleOnClose } from '../http/node-exchange.ts'
import type { Refusal } from '../http/problem.ts'
import { RequestLimit } from '../http/request-limit.ts'
import type { RequestLimitOptions, RequestReader } from '../http/request-options.ts'

export interface RateLimitOptions extends RequestLimitOptions<Context, Context> {
  /** Answers a refused request in the place of the problem document; its headers and status are set. */
  handler?: (context: Context, next: Next, refusal: Refusal) => unknown
}

/** Koa's own `app.proxy` is what decides where `trustProxy` is not given. */
const reader: RequestReader<Context> = {
  peer: ({ req }) => req.socket?.remoteAddress,
  ip: (context) => (context.app.proxy ? context.ip : undefined),
  believesEverybody: ({ app }) => app.proxy && app.maxIpsCount === 0,
  header: ({ req }, name) => nodeHeader(req, name),
  method: ({ method }) => method,
  route: (context) => (typeof context['routerPath'] === 'string' ? context['routerPath'] : context.path),
  identity: ({ req }) => req,
}

/**
 * A middleware for Koa 3: `app.use(rateLimit({ limit: 100, window: '1m' }))`.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  const limit = new RequestLimit(options, reader, ['handler'])
  const { handler } = options
  return async (context, next) => {
    const { headers, refusal, charge } = await limit.check(context)
    context.set(headers)
    if (refusal === undefined) {
      if (charge !== undefined) settleOnClose(limit, context, context, context.res, charge)
      return next()
    }
    context.status = refusal.status
    if (handler !== undefined) return handler(context, next, refusal)
    context.type = refusal.contentType
    context.body = refusal.body
  }
}
