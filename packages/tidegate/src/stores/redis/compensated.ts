import type { Admission } from '../../admission.ts'
import type { RuleDecision } from '../../decision.ts'
import type { Check, Mode } from '../store.ts'
import type { ScriptMode } from './batch.ts'

/** How checks whose keys share a slot are decided in one step, and how one of them is given back. */
export interface SlotStore {
  decide(checks: readonly Check[], mode: ScriptMode): Promise<RuleDecision[]>
  refund(check: Check, of: Admission): Promise<number>
}

/**
 * Decides a request whose checks lie in several slots of a cluster, so that no one script can see them all. First every
 * slot is asked what it would say, and charges nothing; only if all admit are they charged, at the same time. Where one
 * refuses by then after all, because somebody else came in between, the others are given back, by time and id. So
 * nothing is over-admitted, and a refused request leaves no charge; for about a round trip another request
 * may be refused that would have fitted.
 *
 * @param groups the checks of each slot, as indices of `checks`
 */
export async function decideCompensated(
  checks: readonly Check[],
  groups: readonly (readonly number[])[],
  mode: Mode,
  store: SlotStore,
): Promise<RuleDecision[]> {
  const ask = (how: ScriptMode) =>
    groups.map((group) =>
      store.decide(
        group.map((index) => checks[index] as Check),
        how,
      ),
    )
  const inOrder = (figures: readonly RuleDecision[][]): RuleDecision[] => {
    const ordered: RuleDecision[] = []
    for (const [i, group] of groups.entries()) {
      for (const [j, index] of group.entries()) ordered[index] = figures[i]?.[j] as RuleDecision
    }
    return ordered
  }

  // A cost of 0 never writes.
  if (mode === 'peek' || checks.every(({ cost }) => cost === 0)) {
    const [probed, peeked] = await Promise.all([Promise.all(ask('peek-probe')), Promise.all(ask('peek'))])
    return inOrder(peeked.flat().every(({ allowed }) => allowed) ? peeked : probed)
  }

  const probed = inOrder(await Promise.all(ask('probe')))
  if (!probed.every(({ allowed }) => allowed)) return probed

  const charged = await Promise.allSettled(ask('consume'))
  const failure = charged.find((answer) => answer.status === 'rejected')
  const figures = inOrder(charged.map((answer) => (answer.status === 'fulfilled' ? answer.value : [])))
  if (failure === undefined && figures.every(({ allowed }) => allowed)) return figures

  const refusedGroups = charged.map(
    (answer) => answer.status === 'fulfilled' && !answer.value.every(({ allowed }) => allowed),
  )
  const admitted = groups.flatMap((group, i) => (charged[i]?.status === 'fulfilled' && !refusedGroups[i] ? group : []))
  await Promise.all(
    admitted.map((index) => {
      const check = checks[index] as Check
      return store.refund(check, { at: figures[index]?.at, id: check.id })
    }),
  )
  if (failure !== undefined) throw failure.reason
  // What was given back is told as it stood before.
  for (const index of admitted) figures[index] = probed[index] as RuleDecision
  return figures
}
