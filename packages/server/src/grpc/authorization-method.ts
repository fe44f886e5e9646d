import type { Gate } from 'tidegate'
import type { ForwardAuthConfig } from '../http/forward-auth-route.ts'
import type { UnaryMethod } from '../rpc/method.ts'
import type { Trust } from '../settings/trust.ts'
import { authorization } from './authorization.ts'
import { readCheckRequest, writeCheckResponse } from './check-codec.ts'
import { type DecisionMethodOptions, decisionMethod } from './decision-method.ts'

type Answering = Pick<DecisionMethodOptions<never, never>, 'admission' | 'logger' | 'metrics'>

/** `envoy.service.auth.v3.Authorization/Check`. */
export function authorizationMethod(
  gate: Gate,
  forwardAuth: () => ForwardAuthConfig,
  isTrusted: Trust,
  answering: Answering,
): UnaryMethod {
  return decisionMethod({
    ...answering,
    endpoint: 'grpc Check',
    read: readCheckRequest,
    answer: authorization(gate, forwardAuth, isTrusted),
    write: writeCheckResponse,
  })
}
