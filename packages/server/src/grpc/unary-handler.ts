import { type handleUnaryCall, status } from '@grpc/grpc-js'
import type { Logger } from 'pino'
import { problemOf } from '../http/problem.ts'

/** A handler that answers with what `answer` resolves to, or with the status that tells its error. */
export function unaryHandler<In, Out>(answer: (request: In) => Promise<Out>, logger: Logger): handleUnaryCall<In, Out> {
  return (call, reply) => {
    answer(call.request).then(
      (answered) => reply(null, answered),
      (error: unknown) => {
        const problem = problemOf(error)
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
