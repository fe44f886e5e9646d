import { randomUUID } from 'node:crypto'
import type { RuleDecision, Source, Store } from 'tidegate'
import { type Check, joinKey } from 'tidegate/store'
import type { Applied, AppliedLimit } from './applied-limits.ts'
import type { RequestDescriptor } from './request.ts'
import type { AnswerSettings } from './settings.ts'

/** One descriptor, its limit, and what was decided of it; without figures where nothing was counted. */
export interface Charged {
  readonly limit: Applied
  readonly figures: RuleDecision | undefined
  /** Where the figures were made: in the store, or in this process. */
  readonly source: Source
}

/** A limit that a request is charged by. */
interface Part extends Check {
  /** Which descriptors it stands for: the same counter twice is charged once, with both costs. */
  readonly indexes: number[]
  readonly limit: AppliedLimit
  readonly isRefund: boolean
}

type ChargeSettings = Pick<AnswerSettings, 'quotaMode' | 'counting'>

/**
 * Decides and charges a request. Limits that can refuse it are decided in one step, all-or-nothing; quotas each by
 * itself, of which one that has something left is enough; shadows last, by what the others have said. Nothing that a
 * refused request was charged stays.
 */
export async function charge(
  store: Store,
  limits: readonly Applied[],
  descriptors: readonly RequestDescriptor[],
  settings: ChargeSettings,
): Promise<Charged[]> {
  const parts = partsOf(limits, descriptors)
  const figures = new Map<number, RuleDecision>()
  const keep = (part: Part, decided: RuleDecision): void => {
    for (const index of part.indexes) figures.set(index, decided)
  }
  const charging = parts.filter(({ isRefund }) => !isRefund)
  const shadows = charging.filter(({ limit }) => limit.shadowMode)
  const isQuota = ({ limit }: Part): boolean => settings.quotaMode || limit.quotaMode
  const quotas = charging.filter((part) => !part.limit.shadowMode && isQuota(part))
  const strict = charging.filter((part) => !part.limit.shadowMode && !isQuota(part))

  // Most requests have strict limits alone, and wait for nothing else.
  const quotaFigures = quotas.length === 0 ? [] : await eachByItself(store, quotas, true)
  const isUsedUp = quotas.length > 0 && quotaFigures.every(({ allowed }) => !allowed)
  const strictFigures = await (settings.counting === 'apart'
    ? eachByItself(store, strict, true)
    : together(store, strict, !isUsedUp)
  ).catch(async (error: unknown) => {
    // An error is the answer to the whole request: what it has been charged is given back, as far as the store can.
    await giveBack(store, quotas, quotaFigures).catch(() => undefined)
    throw error
  })
  const isRefused = isUsedUp || strictFigures.some(({ allowed }) => !allowed)
  if (isRefused && quotas.length > 0 && settings.counting === 'together') await giveBack(store, quotas, quotaFigures)
  const areShadowsCharged = !isRefused || settings.counting === 'apart'
  const shadowFigures = shadows.length === 0 ? [] : await eachByItself(store, shadows, areShadowsCharged)
  const givingBack = parts.filter(({ isRefund }) => isRefund)
  const refunded = givingBack.length === 0 ? [] : await refunds(store, givingBack)
  for (const [i, part] of quotas.entries()) keep(part, quotaFigures[i] as RuleDecision)
  for (const [i, part] of strict.entries()) keep(part, strictFigures[i] as RuleDecision)
  for (const [i, part] of shadows.entries()) keep(part, shadowFigures[i] as RuleDecision)
  for (const [part, decided] of refunded) keep(part, decided)
  return limits.map((limit, i) => {
    const decided = figures.get(i)
    return { limit, figures: decided, source: sourceOf(store, decided) }
  })
}

function partsOf(limits: readonly Applied[], descriptors: readonly RequestDescriptor[]): Part[] {
  const parts = new Map<string, Part>()
  for (const [i, limit] of limits.entries()) {
    if (limit.kind !== 'counted') continue
    const { hits, isRefund } = descriptors[i] as RequestDescriptor
    const counter = `${isRefund ? 'refund' : 'charge'} ${limit.rule.id} ${joinKey(limit.key)}`
    const there = parts.get(counter)
    const cost = Math.min((there?.cost ?? 0) + hits, MOST_COST)
    const { rule, key } = limit
    const id = rule.algorithm === 'sliding-log' ? { id: randomUUID() } : {}
    parts.set(counter, { rule, key, cost, ...id, limit, isRefund, indexes: [...(there?.indexes ?? []), i] })
  }
  return [...parts.values()]
}

const MOST_COST = 2 ** 32 - 1

async function together(store: Store, parts: readonly Part[], isCharged: boolean): Promise<RuleDecision[]> {
  return parts.length === 0 ? [] : decide(store, parts, isCharged)
}

function eachByItself(store: Store, parts: readonly Part[], isCharged: boolean): Promise<RuleDecision[]> {
  return Promise.all(
    parts.map(async (part) => {
      const [figures] = await decide(store, [part], isCharged)
      return figures as RuleDecision
    }),
  )
}

async function decide(store: Store, parts: readonly Part[], isCharged: boolean): Promise<RuleDecision[]> {
  const mode = isCharged ? 'consume' : 'peek'
  const now = store.decideNow?.(parts, mode)
  return now === undefined ? store.decide(parts, mode) : [...now]
}

/** Quotas were charged before the rest refused. */
async function giveBack(store: Store, quotas: readonly Part[], figures: readonly RuleDecision[]): Promise<void> {
  const charged = quotas.flatMap((part, i) => {
    const decided = figures[i] as RuleDecision
    return decided.allowed && part.cost > 0 ? [{ part, at: decided.at, source: sourceOf(store, decided) }] : []
  })
  await Promise.all(
    charged.map(({ part: { rule, key, cost, id = undefined }, at, source }) =>
      store.refund(rule, key, cost, { at, id, source }),
    ),
  )
}

function sourceOf(store: Store, figures: RuleDecision | undefined): Source {
  return figures === undefined ? 'store' : (store.sourceOf?.(figures) ?? 'store')
}

/** Gives back, and says what is left then. */
function refunds(store: Store, parts: readonly Part[]): Promise<[Part, RuleDecision][]> {
  return Promise.all(
    parts.map(async (part): Promise<[Part, RuleDecision]> => {
      if (part.cost > 0) await store.refund(part.rule, part.key, part.cost, undefined)
      const [figures] = await store.decide([{ rule: part.rule, key: part.key, cost: 0 }], 'peek')
      return [part, figures as RuleDecision]
    }),
  )
}
