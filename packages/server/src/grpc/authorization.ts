import { create, type JsonObject, type MessageInitShape } from '@bufbuild/protobuf'
import type { Decision, Gate } from 'tidegate'
import { rateLimitHeaders } from 'tidegate/http'
import type { ForwardAuthConfig } from '../http/forward-auth-route.ts'
import { refusalBody } from '../http/refusal.ts'
import { STATUS } from '../rpc/status.ts'
import type { Trust } from '../settings/trust.ts'
import { authorizationDescriptor } from './authorization-descriptor.ts'
import {
  HeaderValueOption_HeaderAppendAction as Append,
  type HeaderValueOptionSchema,
} from './generated/envoy/config/core/v3/base_pb.ts'
import {
  type CheckRequest,
  type CheckResponse,
  CheckResponseSchema,
} from './generated/envoy/service/auth/v3/external_auth_pb.ts'

/**
 * Envoy's ext_authz: may the request pass? A refusal has the status of the configuration file (429), the headers of the
 * decision and a problem document; what passes gets the headers on its response. Both have the decision as metadata.
 */
export function authorization(
  gate: Gate,
  forwardAuth: () => ForwardAuthConfig,
  isTrusted: Trust,
): (request: CheckRequest) => Promise<CheckResponse> {
  return async ({ attributes }) => {
    const { headers: mapped, denyStatus } = forwardAuth()
    const { rules } = gate
    const decision = await gate.limit(authorizationDescriptor(attributes, mapped, isTrusted))
    const headers = Object.entries(rateLimitHeaders(decision, rules)).map(headerOption)
    const dynamicMetadata = metadataOf(decision)
    if (decision.allowed) {
      return create(CheckResponseSchema, {
        status: { code: STATUS.OK },
        httpResponse: { case: 'okResponse', value: { responseHeadersToAdd: headers } },
        dynamicMetadata,
      })
    }
    return create(CheckResponseSchema, {
      status: { code: STATUS.RESOURCE_EXHAUSTED, message: `refused by ${decision.rule}` },
      httpResponse: {
        case: 'deniedResponse',
        value: {
          status: { code: denyStatus },
          headers: [...headers, headerOption(['Content-Type', 'application/problem+json'])],
          body: refusalBody(decision, denyStatus),
        },
      },
      dynamicMetadata,
    })
  }
}

function headerOption([key, value]: [string, string]): MessageInitShape<typeof HeaderValueOptionSchema> {
  return { header: { key, value }, appendAction: Append.OVERWRITE_IF_EXISTS_OR_ADD }
}

/** What access logs and other filters of Envoy can read. */
function metadataOf(decision: Decision): JsonObject {
  const { allowed, rule, reason, limit, remaining, retryAfterMs, resetAfterMs, version } = decision
  return { allowed, rule, reason, limit, remaining, retryAfterMs, resetAfterMs, version }
}
