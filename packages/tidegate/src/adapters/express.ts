import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { conclude, nodeHeader, pathOf, sendNodeRefusal, setNodeHeaders, settleOnClose } from '../http/node-exchange.ts'
import type { Refusal } from '../http/problem.ts'
import { RequestLimit } from '../http/request-limit.ts'
import type { RequestLimitOptions, RequestReader } from '../http/request-options.ts'

export interface RateLimitOptions extends RequestLimitOptions<Request, Response> {
  /** Answers a refused request in the place of the problem document; its headers are set. */
  handler?: (request: Request, response: Response, next: NextFunction, refusal: Refusal) => unknown
}

/** Express's own `trust proxy` is what decides where `trustProxy` is not given. */
const reader: RequestReader<Request> = {
  peer: (request) => request.socket?.remoteAddress,
  ip: (request) => (trustOf(request) === false ? undefined : request.ip),
  believesEverybody: (request) => trustOf(request) === true,
  header: nodeHeader,
  method: (request) => request.method,
  route: ({ route, baseUrl, originalUrl }) => {
    return typeof route?.path === 'string' ? `${baseUrl}${route.path}` : pathOf(originalUrl)
  },
  identity: (request) => request,
}

/**
 * A middleware for Express 4 and 5: `app.use(rateLimit({ limit: 100, window: '1m' }))`, or on one route.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`
 */
export function rateLimit(options: RateLimitOptions): RequestHandler {
  const limit = new RequestLimit(options, reader, ['handler'])
  const { handler } = options
  return (request, response, next) => {
    conclude(() => limit.check(request), {
      pass: next,
      fail: next,
      announce: ({ headers, charge }) => {
        setNodeHeaders(response, headers)
        if (charge !== undefined) settleOnClose(limit, request, response, response, charge)
      },
      refuse: (refusal) => {
        if (handler === undefined) sendNodeRefusal(response, refusal)
        else {
          response.statusCode = refusal.status
          return handler(request, response, next, refusal)
        }
      },
    })
  }
}

function trustOf(request: Request): unknown {
  return request.app?.get('trust proxy') ?? false
}
