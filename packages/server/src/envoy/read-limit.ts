import { TidegateError } from 'tidegate'
import { compileRule } from 'tidegate/store'
import type { Path } from '../config/yaml-document.ts'
import { shown } from '../config/yaml-document.ts'
import type { ConfiguredLimit } from './configured-domain.ts'
import { type FieldReader, fieldAt } from './field-reader.ts'
import { type Unit, unitNamed, unitNames, units } from './units.ts'

/** Our own, which envoyproxy/ratelimit does not have. */
const OWN_FIELDS = ['algorithm', 'window', 'resolution', 'burst']
export const limitFields: readonly string[] = [
  'unit',
  'requests_per_unit',
  'unlimited',
  'name',
  'replaces',
  ...OWN_FIELDS,
]

/** Those that count by themselves: leases nobody would end, and a quota has no unit. */
const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'sliding-counter', 'token-bucket', 'gcra']
/** The fields of ours that not every algorithm has. */
const HAVING = [
  ['burst', ['token-bucket', 'gcra']],
  ['resolution', ['sliding-window']],
] as const
const MOST = 2 ** 32 - 1

/** Reads the `rate_limit` of a descriptor. */
export function readLimit(reader: FieldReader, value: unknown, path: Path): ConfiguredLimit | undefined {
  const fields = reader.mapping(value, path)
  if (fields === undefined) return undefined
  const at = (field: string): Path => [...path, field]
  const unlimited = reader.flag(fields['unlimited'], at('unlimited'))
  const unitText = reader.text(fields['unit'], at('unit'))
  const unit = unitNamed(unitText)
  const hasWindow = fields['window'] !== undefined
  if (unlimited && unit !== undefined) {
    reader.report(at('unit'), `${fieldAt(at('unit'))} is ${shown(unitText)} beside unlimited`, 'no unit')
  } else if (!unlimited && hasWindow && unitText !== '') {
    reader.report(at('unit'), `${fieldAt(at('unit'))} is ${shown(unitText)} beside a window`, 'either of the two')
  } else if (!unlimited && unit === undefined && !hasWindow) {
    reader.refuse(at('unit'), `one of ${unitNames.map((name) => name.toLowerCase()).join(', ')}`)
  }
  const name = reader.text(fields['name'], at('name'))
  const requestsPerUnit = readCount(reader, fields['requests_per_unit'], at('requests_per_unit'))
  const replaces = readReplaces(reader, fields['replaces'], at('replaces'), name)
  const counted = !unlimited && (unit !== undefined || hasWindow)
  const counting = counted ? readCounting(reader, fields, path, requestsPerUnit, unit) : undefined
  return { requestsPerUnit, unit: unlimited ? undefined : unit, unlimited, name, replaces, counting }
}

/** Missing is 0, as there: it admits nothing. */
function readCount(reader: FieldReader, value: unknown, path: Path): number {
  if (value === undefined || value === null) return 0
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST) return value
  reader.refuse(path, 'a whole number from 0 to 4,294,967,295')
  return 0
}

function readReplaces(reader: FieldReader, value: unknown, path: Path, own: string): string[] {
  return reader.list(value, path).flatMap((one, i) => {
    const place = [...path, i]
    const fields = reader.mapping(one, place)
    if (fields === undefined) return []
    const at = [...place, 'name']
    const name = reader.someText(fields['name'], at, 'the name of a limit')
    if (name !== '' && name === own) reader.refuse(at, 'the name of another limit than this one')
    return [name]
  })
}

/** What the library makes of it; what it has against that is the file's mistake. */
function readCounting(
  reader: FieldReader,
  fields: Record<string, unknown>,
  path: Path,
  limit: number,
  unit: Unit | undefined,
): ConfiguredLimit['counting'] {
  const { algorithm = 'fixed-window', resolution, burst } = fields
  if (!ALGORITHMS.some((known) => known === algorithm)) {
    reader.refuse([...path, 'algorithm'], `one of ${ALGORITHMS.join(', ')}`)
    return undefined
  }
  const given = HAVING.filter(([field]) => fields[field] !== undefined)
  const wrong = given.filter(([, algorithms]) => !algorithms.some((one) => one === algorithm))
  for (const [field, algorithms] of wrong) {
    reader.refuse([...path, field], `none with the algorithm ${algorithm}: ${algorithms.join(' and ')} can have one`)
  }
  if (wrong.length > 0) return undefined
  const window = fields['window'] ?? (unit === undefined ? undefined : units[unit].ms)
  const isCellRate = algorithm === 'gcra'
  const options = {
    limit,
    algorithm,
    ...(isCellRate ? { period: window } : { window }),
    ...(resolution !== undefined && { resolution }),
    ...(burst !== undefined && (algorithm === 'token-bucket' ? { capacity: burst } : { burst })),
  }
  try {
    compileRule({ name: 'a', ...options }, 'limit')
    return options as NonNullable<ConfiguredLimit['counting']>
  } catch (error) {
    if (!(error instanceof TidegateError)) throw error
    const name = OUR_NAMES[error.field ?? ''] ?? 'requests_per_unit'
    reader.refuse([...path, name], error.expected ?? error.message)
    return undefined
  }
}

/** What the library calls a field, in the words of the file. */
const OUR_NAMES: Readonly<Record<string, string>> = {
  'limit.limit': 'requests_per_unit',
  'limit.window': 'window',
  'limit.period': 'window',
  'limit.resolution': 'resolution',
  'limit.capacity': 'burst',
  'limit.burst': 'burst',
}
