import type { RuleOptions } from 'tidegate'
import { ALGORITHM_SPELLINGS, ALIGNMENTS, overrideShape } from 'tidegate/store'
import { z } from 'zod'
import { configSchema } from './schema.ts'

/** A node of a JSON Schema, as far as it is looked at here. */
interface Node {
  [name: string]: unknown
  description?: string
  properties?: Record<string, Node>
  items?: Node
}

const oneOrMore = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])
const plain = z.union([
  oneOrMore,
  z.strictObject({ prefix: oneOrMore }),
  z.strictObject({ glob: oneOrMore }),
  z.strictObject({ cidr: oneOrMore }),
])
const condition = z.union([plain, z.strictObject({ not: plain })])

const MOST = 2 ** 32 - 1
const count = (least: number): Node => ({ type: 'integer', minimum: least, maximum: MOST })
const duration: Node = {
  anyOf: [
    { type: 'integer', minimum: 1, maximum: 366 * 86_400_000 },
    { type: 'string', pattern: '^\\d{1,15} ?(ms|s|m|h|d)$' },
  ],
}

const conditions: Node = { type: 'object', additionalProperties: { $ref: '#/definitions/condition' } }
const someConditions: Node = { ...conditions, minProperties: 1 }
const INSTEAD = "in place of the rule's own"
const AS_IN_RULE = 'as in the rule, or left out: another one would be another count'
const override: Node = {
  ...someConditions,
  properties: {
    limit: { ...count(0), description: INSTEAD },
    capacity: { ...count(0), description: INSTEAD },
    refill: { ...count(1), description: INSTEAD },
    burst: { ...count(0), description: INSTEAD },
    unlimited: { type: 'boolean', description: 'such requests pass, and are not counted' },
    ...Object.fromEntries(overrideShape.map((name) => [name, { description: AS_IN_RULE }])),
  },
}
const limitFromDimension = z.strictObject({ dimension: z.string().min(1), default: z.int().min(0).max(MOST) })

/** What the library says of values: the schema of the file leaves that to it, and editors have no library. */
const VALUES: Partial<Record<keyof RuleOptions, Node>> = {
  name: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' },
  match: conditions,
  skip: { anyOf: [someConditions, { type: 'array', items: someConditions, minItems: 1 }] },
  overrides: { items: override },
  cost: { minLength: 1 },
  key: { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true },
  algorithm: { enum: ALGORITHM_SPELLINGS },
  align: { enum: ALIGNMENTS },
  onStoreFailure: { enum: ['deny', 'allow', 'local'] },
  limit: { anyOf: [count(0), { $ref: '#/definitions/limitFromDimension' }] },
  capacity: count(0),
  refill: count(1),
  burst: count(0),
  mode: { enum: ['exact', 'leased'] },
  slack: { type: 'number', minimum: 0, maximum: 1 },
  leaseMs: { type: 'integer', minimum: 10, maximum: 60_000 },
  shards: { type: 'integer', minimum: 1, maximum: 100 },
}

/**
 * The JSON Schema of the configuration file, for editors; made from the schema that the service checks it by. It refuses
 * nothing that the service takes, and takes some of what the service refuses: what only the library knows.
 * @param reference the text of docs/reference/configuration.md, whose table describes the fields
 */
export function configJsonSchema(reference: string): object {
  const schema = schemaOf(configSchema)
  const item = fieldsOf(schema)['rules']?.items as Node
  const rule = fieldsOf(item)
  item['anyOf'] = [{ required: ['limit'] }, { required: ['unlimited'] }]
  for (const [name, field] of Object.entries(rule)) Object.assign(field, VALUES[name as keyof RuleOptions])
  const { headers } = fieldsOf(fieldsOf(schema)['forwardAuth'])
  Object.assign(headers as Node, { type: 'object', additionalProperties: { type: 'string' } })
  describe(schema, '', descriptionsIn(reference))
  const $schema = 'http://json-schema.org/draft-07/schema#'
  const definitions = {
    duration,
    condition: schemaOf(condition),
    limitFromDimension: schemaOf(limitFromDimension),
  }
  return { $schema, title: 'Rules of Tidegate', ...schema, definitions }
}

function schemaOf(schema: z.ZodType): Node {
  const options = { target: 'draft-7', io: 'input', unrepresentable: 'any' } as const
  const { $schema: _, ...node } = z.toJSONSchema(schema, options)
  return withDurations(node) as Node
}

/** What may be a number or a text is a duration. */
function withDurations(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDurations)
  if (typeof value !== 'object' || value === null) return value
  if (String((value as Node)['type']) === 'number,string') return { allOf: [{ $ref: '#/definitions/duration' }] }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withDurations(one)]))
}

function fieldsOf(node: Node | undefined): Record<string, Node> {
  return node?.properties ?? {}
}

/** What the table of fields says of each, by its path: `rules[].limit`. */
function descriptionsIn(reference: string): Map<string, string> {
  const rows = reference.matchAll(/^\| `([^`]+)` *\|([^|]*)\|(.*)\|$/gm)
  return new Map(
    [...rows].map(([, path = '', usual = '', meaning = '']) => {
      const text = meaning.trim().replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
      const isOptional = !['required', 'none', ''].includes(usual.trim())
      return [path, isOptional ? `${text}. Default: ${usual.trim()}` : text]
    }),
  )
}

function describe(node: Node, path: string, descriptions: ReadonlyMap<string, string>): void {
  const description = descriptions.get(path)
  if (description !== undefined) node.description = description
  if (node.items !== undefined) describe(node.items, `${path}[]`, descriptions)
  for (const [name, field] of Object.entries(fieldsOf(node))) {
    describe(field, path === '' ? name : `${path}.${name}`, descriptions)
  }
}
