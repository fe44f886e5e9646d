import { excessTooLarge, type Settlement, UNSETTLED } from '../../reservation.ts'
import type { Rule } from '../../rule.ts'
import { unexpectedReply } from './state-error.ts'

/** The status words of settle.lua. */
const SETTLED = 1
const TOO_LARGE = -1
const OUT_OF_RANGE = -2

/** What the reply of the `settle` script says; no settlement where it has not been sent the window of its time. */
export interface SettlementReply {
  /** The time by which it was settled, ms since the epoch. */
  readonly time: number
  readonly settlement: Settlement | undefined
}

/** @throws TidegateError `ERR_INVALID_COST` where the key would have used too much, `ERR_CLIENT_UNSUPPORTED` */
export function readSettlement(reply: unknown, rule: Rule, cost: number): SettlementReply {
  if (!isNumbers(reply)) throw unexpectedReply(reply)
  const [time, status, charged, refunded] = reply
  if (status === TOO_LARGE) throw excessTooLarge(rule.name, cost)
  if (status === OUT_OF_RANGE) return { time, settlement: undefined }
  return { time, settlement: status === SETTLED ? { settled: true, charged, refunded } : UNSETTLED }
}

function isNumbers(reply: unknown): reply is [number, number, number, number] {
  return Array.isArray(reply) && reply.length === 4 && reply.every((value) => typeof value === 'number')
}
