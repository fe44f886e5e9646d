import { type handleUnaryCall, status } from '@grpc/grpc-js'
import type { Logger } from 'pino'
import { problemOf } from '../http/problem.ts'
import type { Metrics } from '../metrics/metrics.ts'

export interface HandlerOptions {
  readonly logger: Logger
  readonly metrics: Metrics
  /** What the method is called in metrics. */
  readonly endpoint: string
}

/** A handler that answers with what `answer` resolves to, or with the status that tells its error. */
export function unaryHandler<In, Out>(
  answer: (request: In) => Promise<Out>,
  { logger, metrics, endpoint }: HandlerOptions,
): handleUnaryCall<In, Out> {
  const seconds = metrics.requestSeconds.labels({ endpoint })
  return (call, reply) => {
    const start = performance.now()
    const measure = (): void => seconds.observe((performance.now() - start) / 1000)
    answer(call.request).then(
      (answered) => {
        reply(null, answered)
        measure()
      },
      (error: unknown) => {
        measure()
        const problem = problemOf(error)
        metrics.errors.inc({ code: problem.code })
        if (problem.status === 500) logger.error({ err: error }, 'unforeseen error')
        else logger.debug({ code: problem.code, field: problem.field }, problem.detail)
        reply({ code: statusOf(problem.status), details: `${problem.code}: ${problem.detail}` })
      },
    )
  }
}

/** The status of gRPC for one of HTTP. */
function statusOf(httpStatus: number): status {
  if (httpStatus === 503) return status.UNAVAILABLE
  if (httpStatus === 409) return status.FAILED_PRECONDITION
  if (httpStatus >= 500) return status.INTERNAL
  return status.INVALID_ARGUMENT
}
