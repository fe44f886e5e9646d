import { type DescMessage, type DescService, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf'
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'

/** A service of generated code, as @grpc/grpc-js serves it. Unary methods only, which is all that Envoy asks. */
export function serviceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => {
      const path = `/${service.typeName}/${method.name}`
      return [method.name, unary(path, method.input, method.output)]
    }),
  )
}

function unary<In extends DescMessage, Out extends DescMessage>(
  path: string,
  input: In,
  output: Out,
): MethodDefinition<MessageShape<In>, MessageShape<Out>> {
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (bytes) => fromBinary(input, bytes),
    responseSerialize: (message) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  }
}
