import type { AppliedLimit } from './applied-limits.ts'
import type { Charged } from './charge.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { CODE, type RateLimitAnswer, type StatusAnswer } from './protocol.ts'
import type { LimitRequest } from './request.ts'
import type { AnswerSettings, HeaderNames } from './settings.ts'
import { units } from './units.ts'

const UNLIMITED = 2 ** 32 - 1

/** A request and what was decided of its descriptors, in the words of the protocol. */
export function answerOf(
  request: LimitRequest,
  charged: readonly Charged[],
  settings: AnswerSettings,
): RateLimitAnswer {
  const isOver = isOverLimit(charged, settings)
  return {
    overallCode: isOver && !settings.shadowMode ? CODE.OVER_LIMIT : CODE.OK,
    statuses: charged.map(statusOf),
    headers: settings.headers === undefined ? [] : headersOf(charged, settings.headers, isOver),
    dynamicMetadata: settings.dynamicMetadata ? metadataOf(request, charged) : undefined,
  }
}

/** Over where a limit is that is no quota, or where all quotas are. */
function isOverLimit(charged: readonly Charged[], { quotaMode }: AnswerSettings): boolean {
  const counted = charged.filter((one): one is Counted => one.limit.kind === 'counted')
  const quotas = counted.filter(({ limit }) => quotaMode || limit.quotaMode)
  const others = counted.filter(({ limit }) => !quotaMode && !limit.quotaMode)
  return others.some(isRefusing) || (quotas.length > 0 && quotas.every(isRefusing))
}

type Counted = Charged & { readonly limit: AppliedLimit }

function isRefusing({ limit, figures }: Charged): boolean {
  return limit.kind === 'counted' && !limit.shadowMode && figures?.allowed === false
}

function statusOf(charged: Charged): StatusAnswer {
  const { limit, figures } = charged
  if (limit.kind === 'unlimited') return { code: CODE.OK, limitRemaining: UNLIMITED }
  if (limit.kind === 'none' || figures === undefined) return { code: CODE.OK, limitRemaining: 0 }
  const { requestsPerUnit, unit, name } = limit
  return {
    code: isRefusing(charged) ? CODE.OVER_LIMIT : CODE.OK,
    currentLimit: { requestsPerUnit, unit: unit === undefined ? 0 : units[unit].number, name },
    limitRemaining: figures.allowed ? figures.remaining : 0,
    // Whole seconds: Envoy leaves out what is less.
    secondsUntilReset: secondsUntilReset(charged),
  }
}

/** Until the count is as if untouched; where it refuses, until the same request would pass. */
function secondsUntilReset({ limit, figures }: Charged): number {
  if (figures === undefined || limit.kind !== 'counted') return 0
  const { allowed, retryAfterMs, resetAfterMs } = figures
  if (allowed) return Math.ceil((resetAfterMs ?? 0) / 1000)
  // What never fits is told to wait for a window: a shorter wait would be no better.
  return Math.max(1, Math.ceil((retryAfterMs ?? limit.rule.windowMs) / 1000))
}

/** Of a refusal, the limit that refuses longest; else the one with the least left. */
function headersOf(charged: readonly Charged[], names: HeaderNames, isOver: boolean): [string, string][] {
  const counted = charged.filter((one): one is Counted => one.limit.kind === 'counted' && one.figures !== undefined)
  const refusing = counted.filter(isRefusing)
  const [first, ...rest] = isOver ? refusing : counted
  if (first === undefined) return []
  const nearest = rest.reduce((one, other) => (isNearer(other, one) ? other : one), first)
  const remaining = nearest.figures?.allowed === false ? 0 : (nearest.figures?.remaining ?? 0)
  const seconds = String(secondsUntilReset(nearest))
  return [
    [names.limit, String(nearest.limit.requestsPerUnit)],
    [names.remaining, String(remaining)],
    [names.reset, seconds],
    ...(isOver ? [['Retry-After', seconds] as [string, string]] : []),
  ]
}

function isNearer(one: Counted, other: Counted): boolean {
  if (isRefusing(one) || isRefusing(other)) return secondsUntilReset(one) > secondsUntilReset(other)
  return (one.figures?.remaining ?? 0) < (other.figures?.remaining ?? 0)
}

/** The request, and the metadata of the limits that it passed, the first where two say different things. */
function metadataOf({ domain, descriptors, hitsAddend }: LimitRequest, charged: readonly Charged[]): JsonObject {
  const passed = charged.flatMap((one) => {
    return one.limit.kind === 'counted' && !isRefusing(one) && one.limit.metadata ? [one.limit.metadata] : []
  })
  const metadata = passed.reduce<JsonObject>((merged, one) => mergeInto(merged, one as JsonObject), {})
  return {
    domain,
    descriptors: descriptors.map(({ entries, ownHits, override }) => ({
      entries: entries.map(({ key, value }) => `${key}=${value}`),
      ...(override !== undefined && { limit: `requests_per_unit:${override.requestsPerUnit} unit:${override.unit}` }),
      ...(ownHits !== undefined && { hitsAddend: ownHits }),
    })),
    ...(hitsAddend !== 0 && { hitsAddend }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

function mergeInto(first: JsonObject, second: JsonObject): JsonObject {
  const merged: Record<string, JsonValue> = { ...first }
  for (const [key, value] of Object.entries(second)) {
    const there = merged[key]
    if (there === undefined) merged[key] = value
    else if (isObject(there) && isObject(value)) merged[key] = mergeInto(there, value)
  }
  return merged
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
