import type { RuleDecision } from '../../decision.ts'
import { TidegateError } from '../../errors.ts'
import type { Check, Mode } from '../store.ts'
import type { SlotShare } from './slot-share.ts'

/** Decides checks that share a slot, in one atomic step; in the request's mode. */
export type DecideInSlot = (checks: readonly Check[]) => Promise<RuleDecision[]>

/**
 * Decides a request whose checks lie in several slots, which no single step of a cluster can.
 * @throws TidegateError `ERR_CROSS_SLOT`, with nothing charged
 */
export async function decideAcrossSlots(
  shares: readonly SlotShare[],
  _mode: Mode,
  _decideInSlot: DecideInSlot,
): Promise<RuleDecision[]> {
  const names = shares.flatMap(({ checks }) => checks.map(({ rule }) => rule.name)).join(', ')
  const message = `Redis: the keys of the rules ${names} lie in different slots of the cluster, so that no one step can decide them`
  throw new TidegateError('ERR_CROSS_SLOT', message)
}
