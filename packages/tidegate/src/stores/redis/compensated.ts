import { type Admission, admissionBy } from '../../admission.ts'
import type { RuleDecision } from '../../decision.ts'
import { type Check, type Mode, passesAll } from '../store.ts'
import type { ScriptMode } from './pending.ts'
import type { SlotShare } from './slot-share.ts'

/** How checks whose keys share a slot are decided in one step, and how one of them is given back. */
export interface SlotStore {
  decide(checks: readonly Check[], mode: ScriptMode): Promise<RuleDecision[]>
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
    const figures = inOrder(shares, peeked)
    return passesAll(checks, figures) ? figures : inOrder(shares, probed)
  }

  const probed = inOrder(shares, await Promise.all(ask('probe')))
  if (!passesAll(checks, probed)) return probed

  const charged = await Promise.allSettled(ask('consume'))
  const failure = charged.find((answer) => answer.status === 'rejected')
  const answers = charged.map((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const figures = inOrder(shares, answers)
  if (failure === undefined && passesAll(checks, figures)) {
    // A penalty of a check in shadow may have begun as it was asked: it is told what it was refused for, not by what since.
    return figures.map((one, i) => (one.allowed || probed[i]?.allowed ? one : (probed[i] as RuleDecision)))
  }

  const admitted = shares.filter((share, i) => {
    return charged[i]?.status === 'fulfilled' && passesAll(share.checks, answers[i] as RuleDecision[])
  })
  const givenBack = admitted.flatMap(({ places }) =>
    places.map((place) => giveBack(store, checks[place] as Check, figures[place] as RuleDecision)),
  )
  // Each is given back, whatever becomes of the others.
  const lost = (await Promise.allSettled(givenBack)).find((answer) => answer.status === 'rejected')
  if (failure !== undefined) throw failure.reason
  if (lost !== undefined) throw lost.reason
  // What was given back is told as it stood before.
  for (const { places } of admitted) for (const place of places) figures[place] = probed[place] as RuleDecision
  return figures
}

/** Gives back what a check has charged. */
async function giveBack(store: SlotStore, check: Check, figures: RuleDecision): Promise<void> {
  const of = admissionBy(figures, check.cost, check.id)
  if (of !== undefined) await store.giveBack(check, of)
}

/** The figures of all slots in the order of the request's checks. */
function inOrder(shares: readonly Pick<SlotShare, 'places'>[], answers: readonly RuleDecision[][]): RuleDecision[] {
  const figures: RuleDecision[] = []
  for (const [i, { places }] of shares.entries()) {
    for (const [j, place] of places.entries()) figures[place] = answers[i]?.[j] as RuleDecision
  }
  return figures
}
