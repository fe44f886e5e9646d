import { invalid, unknownOption } from './errors.ts'

/** True for an object that holds fields: not null, not an array, no instance of a class of its own. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Refuses anything but an object whose every field is one of `known`: a misspelt option that is
 * silently ignored is a limit that is not there.
 */
export function checkFields(value: unknown, field: string, known: readonly string[]): Record<string, unknown> {
  if (!isRecord(value)) throw invalid('ERR_INVALID_OPTION', field, `an object with ${known.join(', ')}`, value)
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw unknownOption(field === 'options' ? name : `${field}.${name}`, known)
  }
  return value
}

/** A whole number within bounds, or the error that names the field. */
export function checkInteger(value: unknown, field: string, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw invalid('ERR_INVALID_OPTION', field, `a whole number from ${show(least)} to ${show(most)}`, value)
  }
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
