import type { Logger } from 'pino'
import { problemOf } from '../http/problem.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { UnaryMethod } from '../rpc/method.ts'
import { RpcError, STATUS, type Status } from '../rpc/status.ts'
import type { Admission } from './admission.ts'

export interface DecisionMethodOptions<In, Out> {
  /** The question in these bytes. */
  readonly read: (bytes: Buffer) => In
  readonly answer: (question: In) => Promise<Out>
  /** The bytes of the answer, with their prefix. */
  readonly write: (answer: Out) => Buffer
  readonly admission: Admission
  readonly logger: Logger
  readonly metrics: Metrics
  /** What the method is called in metrics. */
  readonly endpoint: string
}

/** A method that answers with what `answer` resolves to, or with the status that tells its error. */
export function decisionMethod<In, Out>(options: DecisionMethodOptions<In, Out>): UnaryMethod {
  const { read, answer, write, admission, logger, metrics, endpoint } = options
  const seconds = metrics.requestSeconds.timer(endpoint)
  const failure = (error: unknown): RpcError => {
    const problem = problemOf(error)
    metrics.errors.inc({ code: problem.code })
    if (problem.status === 500) logger.error({ err: error }, 'unforeseen error')
    else logger.debug({ code: problem.code, field: problem.field }, problem.detail)
    return new RpcError(statusOf(problem.status), `${problem.code}: ${problem.detail}`, hintOf(problem.status))
  }
  return {
    kind: 'unary',
    answer: async (bytes) => {
      const start = performance.now()
      try {
        admission.enter()
        try {
          return write(await answer(read(bytes)))
        } finally {
          admission.leave()
        }
      } catch (error) {
        throw failure(error)
      } finally {
        seconds.observe((performance.now() - start) / 1000)
      }
    },
  }
}

/** The status of gRPC for one of HTTP. */
function statusOf(httpStatus: number): Status {
  if (httpStatus === 503) return STATUS.UNAVAILABLE
  if (httpStatus === 409) return STATUS.FAILED_PRECONDITION
  if (httpStatus >= 500) return STATUS.INTERNAL
  return STATUS.INVALID_ARGUMENT
}

/** When to try again, as the retries of gRPC read it (gRFC A6); what Retry-After is over HTTP. */
function hintOf(httpStatus: number): Record<string, string> {
  return httpStatus === 503 ? { 'grpc-retry-pushback-ms': '1000' } : {}
}
