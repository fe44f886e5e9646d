import type { AnswerStream, Method, QuestionListener } from '../rpc/method.ts'

/** Lets clients such as grpcurl ask which services there are, and what their messages look like. Loaded when it is asked. */
export function reflectionMethods(): [path: string, method: Method][] {
  const method: Method = { kind: 'streaming', open: answering }
  // The messages of both versions are the same.
  return ['v1', 'v1alpha'].map((version) => [
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    method,
  ])
}

function answering(call: AnswerStream): QuestionListener {
  return {
    message: async (bytes) => {
      const { answerReflection } = await import('./reflection-answer.ts')
      call.send(answerReflection(bytes))
    },
    end: () => call.end(),
    close: () => undefined,
  }
}
