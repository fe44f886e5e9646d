import { invalid, memberOf } from './errors.ts'
import { isKey, KEY_EXPECTED, type Key } from './key.ts'
import { isRecord } from './options.ts'

/** A request as the rules see it: dimensions and their values, e.g. `{ route: '/order', user: 'u1' }`. */
export type Descriptor = Readonly<Record<string, string>>

/**
 * Refuses what is no descriptor.
 * @throws TidegateError `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`
 */
export function checkDescriptor(descriptor: unknown): void {
  const expected = 'an object that gives dimensions their values, such as { route: "/order", user: "u1" }'
  if (!isRecord(descriptor)) throw invalid('ERR_INVALID_DESCRIPTOR', 'descriptor', expected, descriptor)
  for (const dimension in descriptor) {
    const value = descriptor[dimension]
    if (!isKey(value)) throw invalid('ERR_INVALID_KEY', memberOf('descriptor', dimension), KEY_EXPECTED, value)
    if (!isKey(dimension))
      throw invalid('ERR_INVALID_KEY', 'descriptor', `dimensions that are ${KEY_EXPECTED}`, dimension)
  }
}

/** The values of the rule's dimensions; undefined where the request lacks one. */
export function keyOf({ key }: { readonly key: readonly string[] }, descriptor: Descriptor): Key | undefined {
  const [only] = key
  if (key.length === 1) return valueIn(descriptor, only as string)
  const values = key.map((dimension) => valueIn(descriptor, dimension))
  return values.includes(undefined) ? undefined : (values as string[])
}

/** The value of a dimension; undefined where the request lacks it, whatever its object inherits. */
export function valueIn(descriptor: Descriptor, dimension: string): string | undefined {
  return Object.hasOwn(descriptor, dimension) ? descriptor[dimension] : undefined
}
