import type { Admission } from '../../admission.ts'
import type { RuleDecision } from '../../decision.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode } from '../store.ts'
import type { ScriptMode } from './batch.ts'
import type { SlotShare } from './slot-share.ts'

/** How checks whose keys share a slot are decided in one step, and how one of them is given back. */
export interface SlotStore {
  decide(checks: readonly Check[], mode: ScriptMode): Promise<RuleDecision[]>
  /** Whether a check of this rule can find that it holds already what it asks for, and is then charged nothing. */
  canHold(rule: Rule): boolean
  giveBack(check: Check, of: Admission): Promise<unknown>
}

/**
 * Decides a request whose checks lie in several slots of a cluster, so that no one script can see them all. First every
 * slot is asked what it would say, and charges nothing; only if all admit are they charged, at the same time. Where one
 * refuses by then after all, because somebody else came in between, the others are given back, by time and id. So
 * nothing is over-admitted, and a refused request leaves no charge; for about a round trip another request
 * may be refused that would have fitted.
 *
 * @param shares the checks of each slot
 */
export async function decideCompensated(
  checks: readonly Check[],
  shares: readonly Pick<SlotShare, 'checks' | 'places'>[],
  mode: Mode,
  store: SlotStore,
): Promise<RuleDecision[]> {
  const ask = (how: ScriptMode) => shares.map((share) => store.decide(share.checks, how))

  // A cost of 0 never writes.
  if (mode === 'peek' || checks.every(({ cost }) => cost === 0)) {
    const [probed, peeked] = await Promise.all([Promise.all(ask('peek-probe')), Promise.all(ask('peek'))])
    return inOrder(shares, peeked.flat().every(isAllowed) ? peeked : probed)
  }

  const [probes, held] = await Promise.all([
    Promise.all(ask('probe')),
    Promise.all(checks.map((check) => isHeld(check, store))),
  ])
  const probed = inOrder(shares, probes)
  if (!probed.every(isAllowed)) return probed

  const charged = await Promise.allSettled(ask('consume'))
  const failure = charged.find((answer) => answer.status === 'rejected')
  const answers = charged.map((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (failure === undefined && answers.every((figures) => figures.every(isAllowed))) return inOrder(shares, answers)

  const admitted = shares.filter((_, i) => charged[i]?.status === 'fulfilled' && answers[i]?.every(isAllowed))
  const figures = inOrder(shares, answers)
  await Promise.all(
    admitted.flatMap(({ places }) =>
      // What was held before has not been charged.
      places
        .filter((place) => !held[place])
        .map((place) => {
          const check = checks[place] as Check
          return store.giveBack(check, { at: figures[place]?.at, id: check.id })
        }),
    ),
  )
  if (failure !== undefined) throw failure.reason
  // What was given back is told as it stood before.
  for (const { places } of admitted) for (const place of places) figures[place] = probed[place] as RuleDecision
  return figures
}

/** Whether what the check asks for is held by its id already: that alone is admitted at a cost above the limit. */
async function isHeld(check: Check, store: SlotStore): Promise<boolean> {
  if (!store.canHold(check.rule)) return false
  const [figures] = await store.decide([{ ...check, cost: check.rule.limit + 1 }], 'peek-probe')
  return figures?.allowed === true
}

/** The figures of all slots in the order of the request's checks. */
function inOrder(shares: readonly Pick<SlotShare, 'places'>[], answers: readonly RuleDecision[][]): RuleDecision[] {
  const figures: RuleDecision[] = []
  for (const [i, { places }] of shares.entries()) {
    for (const [j, place] of places.entries()) figures[place] = answers[i]?.[j] as RuleDecision
  }
  return figures
}

function isAllowed({ allowed }: RuleDecision): boolean {
  return allowed
}
