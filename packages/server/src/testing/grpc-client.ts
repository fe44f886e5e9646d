import {
  create,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import { type ChannelCredentials, Client, credentials, type ServiceError } from '@grpc/grpc-js'

/** A client of @grpc/grpc-js that calls unary methods of generated code. */
export class GrpcClient {
  readonly #client: Client

  constructor(address: string, security: ChannelCredentials = credentials.createInsecure()) {
    this.#client = new Client(address, security)
  }

  /** Rejects with the error of the call. */
  call<Method extends DescMethodUnary>(
    method: Method,
    request: MessageInitShape<Method['input']>,
    deadlineMs = 10_000,
  ): Promise<MessageShape<Method['output']>> {
    const { input, output } = method
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest<MessageShape<Method['input']>, MessageShape<Method['output']>>(
        `/${method.parent.typeName}/${method.name}`,
        (message) => Buffer.from(toBinary(input, message)),
        (bytes) => fromBinary(output, bytes) as MessageShape<Method['output']>,
        create(input, request as never) as MessageShape<Method['input']>,
        { deadline: Date.now() + deadlineMs },
        (error: ServiceError | null, answer) => (error === null && answer ? resolve(answer) : reject(error)),
      )
    })
  }

  close(): void {
    this.#client.close()
  }
}
