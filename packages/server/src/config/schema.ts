import type { RuleOptions } from 'tidegate'
import { z } from 'zod'
import { ownDimensions } from '../forward-auth/forwarded-descriptor.ts'
import { breakerShape, storeShape } from './store-schema.ts'

/** The statuses that a refusal of forward auth can have; nginx understands the first two alone. */
export const denyStatuses = [401, 403, 429] as const
export type DenyStatus = (typeof denyStatuses)[number]

/** What the value of a field must be, in the words of the error: every message of this schema is one. */
const text = z.string({ error: 'a string' })

const duration = z.union([z.number(), z.string()], {
  error: "milliseconds or a duration such as '1s', '1m', '1h', '7d'",
})

const flag = z.boolean({ error: 'true or false' })

/**
 * The shape of a rule. What its values must be is the library's to say, and so is all of a condition and of a limit; a field that the library
 * has and that is missing here does not compile.
 */
const ruleShape = {
  name: text,
  match: entries(z.string(), z.unknown(), { value: 'dimensions and the values to match' }).optional(),
  key: z.array(text, { error: 'a list of dimensions' }).optional(),
  // A number, or where it comes from; an unlimited rule has none.
  limit: z.unknown().optional(),
  window: duration.optional(),
  algorithm: text.optional(),
  resolution: duration.optional(),
  align: text.optional(),
  timeZone: text.optional(),
  capacity: z.number({ error: 'a whole number' }).optional(),
  refill: z.number({ error: 'a whole number' }).optional(),
  period: duration.optional(),
  burst: z.number({ error: 'a whole number' }).optional(),
  shards: z.number({ error: 'a whole number' }).optional(),
  overrides: z
    .array(entries(z.string(), z.unknown(), { value: 'a mapping with dimensions, their conditions, and a limit' }), {
      error: 'a list of overrides',
    })
    .optional(),
  skip: z.unknown().optional(),
  unlimited: flag.optional(),
  shadow: flag.optional(),
  required: flag.optional(),
  cost: text.optional(),
  penalty: mapping({
    blocks: z.array(duration, { error: 'a list of durations' }),
    forgetAfter: duration.optional(),
  }).optional(),
  mode: text.optional(),
  slack: z.number({ error: 'a number from 0 to 1' }).optional(),
  leaseMs: z.number({ error: 'a whole number' }).optional(),
  onStoreFailure: text.optional(),
  description: text.optional(),
} satisfies Record<keyof RuleOptions, z.ZodType>

const dimension = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/)
  .refine((name) => !ownDimensions.some((own) => own === name))

const headerName = z
  .string({ error: 'the name of a header' })
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'the name of a header' })
  .transform((name) => name.toLowerCase())

const dimensionExpected = `a dimension other than ${ownDimensions.join(', ')}: a letter, then letters, digits, '_', '-' or '.'`

/** The shape of a configuration file. */
export const configSchema = mapping({
  rules: z.array(mapping(ruleShape), { error: 'a list of rules' }).min(1, { error: 'at least one rule' }),
  forwardAuth: mapping({
    headers: entries(dimension, headerName, {
      value: 'dimensions and the headers that give them',
      key: dimensionExpected,
    }).optional(),
  }).optional(),
  store: mapping({ ...storeShape, breaker: mapping(breakerShape).optional() }).optional(),
  denyStatus: z.literal([...denyStatuses], { error: `one of ${denyStatuses.join(', ')}` }).optional(),
})

function mapping<Shape extends z.ZodRawShape>(shape: Shape) {
  const fields = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? `one of ${fields}` : `a mapping with ${fields}`),
  })
}

/**
 * A mapping with keys of the file's own. A record of zod would leave out `__proto__` without a word,
 * and a rule without its match limits everybody.
 */
function entries<Value>(
  keys: z.ZodType<string>,
  values: z.ZodType<Value>,
  expected: { readonly value: string; readonly key?: string },
) {
  return z
    .custom<Readonly<Record<string, unknown>>>(isMapping, { error: expected.value })
    .transform((given, { issues }): Record<string, Value> => {
      const read: [string, Value][] = []
      for (const [key, input] of Object.entries(given)) {
        const path = [key]
        if (!keys.safeParse(key).success) {
          const message = expected.key ?? 'a string'
          issues.push({ code: 'invalid_key', origin: 'record', issues: [], input: key, path, message })
        }
        const value = values.safeParse(input)
        if (value.success) read.push([key, value.data])
        else for (const { message } of value.error.issues) issues.push({ code: 'custom', input, path, message })
      }
      return Object.fromEntries(read)
    })
}

function isMapping(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
