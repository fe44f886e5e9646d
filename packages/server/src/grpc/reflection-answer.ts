import { create, type DescFile, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { RpcError, STATUS } from '../rpc/status.ts'
import { Authorization } from './generated/envoy/service/auth/v3/external_auth_pb.ts'
import { RateLimitService } from './generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { Health } from './generated/grpc/health/v1/health_pb.ts'
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from './generated/grpc/reflection/v1/reflection_pb.ts'

const SERVICES = [RateLimitService, Authorization, Health, ServerReflection]

/** All files, each after those that it needs. */
const files = new Map<string, DescFile>()
for (const { file } of SERVICES) collect(file)
const filesBySymbol = new Map([...files.values()].flatMap((file) => symbolsOf(file).map((symbol) => [symbol, file])))

/**
 * The answer to a question of `grpc.reflection`, both as bytes.
 * @throws RpcError `INVALID_ARGUMENT` where the bytes are no question
 */
export function answerReflection(bytes: Uint8Array): Uint8Array {
  const question = questionIn(bytes)
  const answer = { validHost: question.host, originalRequest: question, messageResponse: answerTo(question) }
  return toBinary(ServerReflectionResponseSchema, create(ServerReflectionResponseSchema, answer))
}

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse']>

function answerTo({ messageRequest: { case: asked, value } }: ServerReflectionRequest): Answer {
  switch (asked) {
    case 'listServices':
      return {
        case: 'listServicesResponse',
        value: { service: SERVICES.map(({ typeName: name }) => ({ name })) },
      }
    case 'fileByFilename':
      return fileAnswer(files.get(value), `there is no file ${value}`)
    case 'fileContainingSymbol':
      return fileAnswer(filesBySymbol.get(value), `there is no symbol ${value}`)
    case 'fileContainingExtension':
      return failure(STATUS.NOT_FOUND, 'there are no extensions')
    case 'allExtensionNumbersOfType':
      return filesBySymbol.has(value)
        ? { case: 'allExtensionNumbersResponse', value: { baseTypeName: value } }
        : failure(STATUS.NOT_FOUND, `there is no type ${value}`)
    default:
      return failure(STATUS.INVALID_ARGUMENT, 'expected a question')
  }
}

/** A file, and all that it needs: a client asks once. */
function fileAnswer(file: DescFile | undefined, message: string): Answer {
  if (file === undefined) return failure(STATUS.NOT_FOUND, message)
  const needed = new Set<DescFile>()
  need(file, needed)
  const fileDescriptorProto = [...needed].map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto))
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } }
}

function need(file: DescFile, needed: Set<DescFile>): void {
  if (needed.has(file)) return
  needed.add(file)
  for (const dependency of file.dependencies) need(dependency, needed)
}

function failure(errorCode: number, errorMessage: string): Answer {
  return { case: 'errorResponse', value: { errorCode, errorMessage } }
}

function questionIn(bytes: Uint8Array): ServerReflectionRequest {
  try {
    return fromBinary(ServerReflectionRequestSchema, bytes)
  } catch (cause) {
    throw new RpcError(
      STATUS.INVALID_ARGUMENT,
      `message: expected a ServerReflectionRequest; ${(cause as Error).message}`,
    )
  }
}

function collect(file: DescFile): void {
  if (files.has(file.proto.name)) return
  for (const dependency of file.dependencies) collect(dependency)
  files.set(file.proto.name, file)
}

/** The full names of what a file defines: services with their methods, messages with their fields, enumerations. */
function symbolsOf(file: DescFile): string[] {
  const names: string[] = file.services.flatMap(({ typeName, methods }) => [
    typeName,
    ...methods.map(({ name }) => `${typeName}.${name}`),
  ])
  const messages = [...file.messages]
  for (const message of messages) {
    messages.push(...message.nestedMessages)
    names.push(message.typeName, ...message.fields.map(({ name }) => `${message.typeName}.${name}`))
    names.push(...message.nestedEnums.map(({ typeName }) => typeName))
  }
  return [...names, ...file.enums.map(({ typeName }) => typeName)]
}
