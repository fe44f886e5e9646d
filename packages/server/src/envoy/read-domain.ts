import { type ConfigProblem, inFileOrder } from '../config/problem.ts'
import { type Path, shown, YamlDocument } from '../config/yaml-document.ts'
import type { ConfiguredDescriptor, ConfiguredDomain } from './configured-domain.ts'
import { FieldReader, fieldAt } from './field-reader.ts'
import { limitFields, readLimit } from './read-limit.ts'

/** The fields of a descriptor, besides those of its limit. */
const DESCRIPTOR_FIELDS = [
  'key',
  'value',
  'rate_limit',
  'descriptors',
  'shadow_mode',
  'quota_mode',
  'detailed_metric',
  'value_to_metric',
  'share_threshold',
  'metadata',
]

/**
 * Reads a file of envoyproxy/ratelimit: one domain and its descriptors. As there, a field that exists anywhere is no
 * mistake elsewhere; what is a mistake there is one here, and the file has all of them listed with their places.
 */
export function readDomain(text: string): { domain: ConfiguredDomain } | { problems: ConfigProblem[] } {
  const document = new YamlDocument(text, { merge: true })
  const read = document.read()
  if ('problems' in read) return { problems: inFileOrder(read.problems) }
  const reader = new FieldReader(document, ['domain', ...DESCRIPTOR_FIELDS, ...limitFields])
  const root = reader.mapping(read.value, [])
  const domain = root === undefined ? '' : reader.someText(root['domain'], ['domain'], 'the name of the domain')
  const descriptors = readDescriptors(reader, root?.['descriptors'], ['descriptors'])
  if (reader.problems.length > 0) return { problems: inFileOrder(reader.problems) }
  return { domain: { domain, descriptors } }
}

function readDescriptors(reader: FieldReader, value: unknown, path: Path): ConfiguredDescriptor[] {
  const seen = new Map<string, string>()
  return reader.list(value, path).flatMap((one, i): ConfiguredDescriptor[] => {
    const place = [...path, i]
    const fields = reader.mapping(one, place)
    if (fields === undefined) return []
    const descriptor = readDescriptor(reader, fields, place)
    const composite = compositeOf(descriptor)
    const earlier = seen.get(composite)
    if (earlier === undefined) seen.set(composite, fieldAt(place))
    else if (descriptor.key !== '') {
      const what = `${fieldAt(place)} is ${shown(composite)}, as ${earlier} is`
      reader.report([...place, 'key'], what, 'a key and value that no other descriptor of this list has')
    }
    return [descriptor]
  })
}

function readDescriptor(reader: FieldReader, fields: Record<string, unknown>, path: Path): ConfiguredDescriptor {
  const at = (field: string): Path => [...path, field]
  const flag = (field: string): boolean => reader.flag(fields[field], at(field))
  const key = reader.someText(fields['key'], at('key'), 'the key of the descriptor')
  const value = reader.text(fields['value'], at('value'))
  const limit = fields['rate_limit']
  const shareThreshold = flag('share_threshold')
  if (shareThreshold && !`${key}_${value}`.includes('*')) {
    const what = `${fieldAt(at('share_threshold'))} is true beside the value ${shown(value)}`
    reader.report(at('share_threshold'), what, "a value with '*', whose values share one count")
  }
  return {
    key,
    value,
    rateLimit: limit === undefined || limit === null ? undefined : readLimit(reader, limit, at('rate_limit')),
    descriptors: readDescriptors(reader, fields['descriptors'], at('descriptors')),
    shadowMode: flag('shadow_mode'),
    quotaMode: flag('quota_mode'),
    detailedMetric: flag('detailed_metric'),
    valueToMetric: flag('value_to_metric'),
    shareThreshold,
    metadata: readMetadata(reader, fields['metadata'], at('metadata')),
  }
}

/** What a request's entry is looked up by: `key_value`, or the key alone where any value is meant. */
export function compositeOf({ key, value }: { readonly key: string; readonly value: string }): string {
  return value === '' ? key : `${key}_${value}`
}

/** Anything may stand in it. */
function readMetadata(reader: FieldReader, value: unknown, path: Path): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  reader.refuse(path, 'a mapping')
  return undefined
}
