import type { MaybePromise } from './maybe-promise.ts'
import { isPromise } from './maybe-promise.ts'
import type { Refusal } from './problem.ts'
import type { RequestLimit } from './request-limit.ts'
import type { Charge, Outcome } from './request-options.ts'

/** What is needed of a request of `node:http`. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly socket: { readonly remoteAddress?: string | undefined } | null
}

/** What is needed of a response of `node:http`. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableFinished: boolean
  readonly destroyed: boolean
  setHeader(name: string, value: string): unknown
  end(body?: string): unknown
  once(event: 'close', listener: () => void): unknown
}

/** One header; several of a name joined by commas, as Node does for most itself. */
export function nodeHeader({ headers }: NodeRequest, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** The path of a request target, without its query. */
export function pathOf(url: string | undefined): string {
  if (url === undefined || url === '') return '/'
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}

/** Sets headers where that is still possible: something else may have answered in the meantime. */
export function setNodeHeaders(response: NodeResponse, headers: Readonly<Record<string, string>>): void {
  if (response.headersSent) return
  for (const name in headers) response.setHeader(name, headers[name] as string)
}

/** Sends a refusal whose headers are set, unless something else has answered. */
export function sendNodeRefusal(response: NodeResponse, { status, contentType, body }: Refusal): void {
  if (response.headersSent || response.destroyed) return
  response.statusCode = status
  response.setHeader('Content-Type', contentType)
  response.setHeader('Content-Length', String(new TextEncoder().encode(body).length))
  response.end(body)
}

/** Settles a charge when the answer has been sent, or its client has gone. */
export function settleOnClose<Request, Response>(
  limit: RequestLimit<Request, Response>,
  request: Request,
  response: Response,
  raw: NodeResponse,
  charge: Charge,
): void {
  raw.once('close', () => {
    limit
      .settle(request, response, charge, { whole: raw.writableFinished, status: raw.statusCode })
      .catch(() => undefined)
  })
}

/** What a middleware of the kind that Connect began does with an outcome. */
export interface Conclusion {
  readonly pass: () => void
  readonly refuse: (refusal: Refusal) => unknown
  readonly fail: (error: unknown) => void
  /** Sets the headers and settles later; before `pass` or `refuse`. */
  readonly announce: (outcome: Outcome) => void
}

/** Does what an outcome says, at once if it is there. What `pass` throws is not ours to catch. */
export function conclude(outcome: () => MaybePromise<Outcome>, conclusion: Conclusion): void {
  let found: MaybePromise<Outcome>
  try {
    found = outcome()
  } catch (error) {
    conclusion.fail(error)
    return
  }
  if (isPromise(found)) found.then((late) => act(late, conclusion), conclusion.fail)
  else act(found, conclusion)
}

function act(outcome: Outcome, { pass, refuse, fail, announce }: Conclusion): void {
  try {
    announce(outcome)
    if (outcome.refusal !== undefined) {
      const answering = refuse(outcome.refusal) as MaybePromise<unknown>
      if (isPromise(answering)) answering.then(undefined, fail)
      return
    }
  } catch (error) {
    fail(error)
    return
  }
  pass()
}
