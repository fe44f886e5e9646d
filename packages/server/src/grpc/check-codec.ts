import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { ServiceError } from '../errors.ts'
import { framed } from '../rpc/messages.ts'
import {
  type CheckRequest,
  CheckRequestSchema,
  type CheckResponse,
  CheckResponseSchema,
} from './generated/envoy/service/auth/v3/external_auth_pb.ts'

/** @throws ServiceError `ERR_INVALID_BODY` */
export function readCheckRequest(bytes: Uint8Array): CheckRequest {
  try {
    return fromBinary(CheckRequestSchema, bytes)
  } catch (cause) {
    const expected = 'a CheckRequest of Envoy'
    const message = `message: expected ${expected}; ${(cause as Error).message}`
    throw new ServiceError('ERR_INVALID_BODY', message, { field: 'message', expected, cause })
  }
}

/** Ready to be sent. */
export function writeCheckResponse(answer: CheckResponse): Buffer {
  return framed(toBinary(CheckResponseSchema, answer))
}
