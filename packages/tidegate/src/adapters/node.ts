import {
  conclude,
  type NodeRequest,
  type NodeResponse,
  nodeHeader,
  pathOf,
  sendNodeRefusal,
  setNodeHeaders,
  settleOnClose,
} from '../http/node-exchange.ts'
import type { Refusal } from '../http/problem.ts'
import { RequestLimit } from '../http/request-limit.ts'
import type { RequestLimitOptions, RequestReader } from '../http/request-options.ts'

export type { NodeRequest, NodeResponse } from '../http/node-exchange.ts'

export interface RateLimitOptions<Request extends NodeRequest, Response extends NodeResponse>
  extends RequestLimitOptions<Request, Response> {
  /** Answers a refused request in the place of the problem document; its headers are set. */
  handler?: (request: Request, response: Response, refusal: Refusal) => unknown
  /** Told what went wrong where a request could not be decided; it is then answered 500. Default: the console is. */
  onError?: (error: unknown, request: Request) => void
}

declare const console: { error: (error: unknown) => void }

/** Decides a request; `next` is called where it passes, and never where it does not. */
export type NodeLimit<Request, Response> = (request: Request, response: Response, next: () => void) => void

const reader: RequestReader<NodeRequest> = {
  peer: ({ socket }) => socket?.remoteAddress,
  header: nodeHeader,
  method: ({ method }) => method ?? 'GET',
  route: ({ url }) => pathOf(url),
  identity: (request) => request,
}

/**
 * For `node:http`: `createServer((request, response) => limited(request, response, () => response.end('hello')))`.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`
 */
export function rateLimit<Request extends NodeRequest = NodeRequest, Response extends NodeResponse = NodeResponse>(
  options: RateLimitOptions<Request, Response>,
): NodeLimit<Request, Response> {
  const limit = new RequestLimit<Request, Response>(options, reader, ['handler', 'onError'])
  const { handler, onError = (error: unknown) => console.error(error) } = options
  return (request, response, next) => {
    conclude(() => limit.check(request), {
      pass: next,
      fail: (error) => {
        onError(error, request)
        if (response.headersSent || response.destroyed) return
        response.statusCode = 500
        response.end()
      },
      announce: ({ headers, charge }) => {
        setNodeHeaders(response, headers)
        if (charge !== undefined) settleOnClose(limit, request, response, response, charge)
      },
      refuse: (refusal) => {
        if (handler === undefined) sendNodeRefusal(response, refusal)
        else {
          response.statusCode = refusal.status
          return handler(request, response, refusal)
        }
      },
    })
  }
}
