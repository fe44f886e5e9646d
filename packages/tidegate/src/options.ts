import { invalid, memberOf, unknownOption } from './errors.ts'

/**
 * True for an object that is nothing but its fields: no array, and no instance of a class (a Map of
 * dimensions has none of its entries as fields, and would match no rule in silence).
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // An Object.prototype of another realm is one too.
  return prototype === null || prototype === Object.prototype || isRoot(prototype, value)
}

function isRoot(prototype: unknown, value: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.prototype.toString.call(value) === '[object Object]'
}

/**
 * Refuses anything but an object whose every field is one of `known`: a misspelt option that is
 * silently ignored is a limit that is not there.
 */
export function checkFields(value: unknown, field: string, known: readonly string[]): Record<string, unknown> {
  if (!isRecord(value)) throw invalid('ERR_INVALID_OPTION', field, `an object with ${known.join(', ')}`, value)
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw unknownOption(memberOf(field === 'options' ? '' : field, name), known)
  }
  return value
}

/** A whole number within bounds, or the error that names the field. */
export function checkInteger(value: unknown, field: string, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw invalid('ERR_INVALID_OPTION', field, `a whole number from ${show(least)} to ${show(most)}`, value)
  }
  // -0 is 0.
  return value + 0
}

/** True or false; false where it is not there. */
export function checkFlag(value: unknown, field: string): boolean {
  if (value === undefined) return false
  if (typeof value !== 'boolean') throw invalid('ERR_INVALID_OPTION', field, 'true or false', value)
  return value
}

/** A string that passes a pattern, or the error that says in words what was expected. */
export function checkPattern(value: unknown, field: string, pattern: RegExp, expected: string): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw invalid('ERR_INVALID_OPTION', field, expected, value)
  return value
}

function show(value: number): string {
  return value.toLocaleString('en-US')
}
