import { TidegateError } from 'tidegate'
import { compileRule, isKey, overrideFields } from 'tidegate/store'
import type { ConfigProblem } from './problem.ts'
import { type Path, shown, type YamlDocument } from './yaml-document.ts'

/**
 * What the library has against conditions, where it stands. `error` names a field in which the
 * names of dimensions may be quoted and shortened, so the condition that is meant is looked for.
 * @param place where the mapping of dimensions and conditions stands; of an override its other fields are left out
 */
export function matchProblem(error: TidegateError, place: Path, match: object, document: YamlDocument): ConfigProblem {
  const { field = '', expected = error.message } = error
  const conditions = Object.entries(match).filter(
    ([name]) => place[2] !== 'overrides' || !overrideFields.includes(name),
  )
  for (const [dimension, condition] of conditions) {
    if (!isKey(dimension)) {
      const what = `${field} has the dimension ${shown(dimension)}`
      return { ...document.positionOfKey(place, dimension), what, expected }
    }
    const within = faultIn(condition)
    if (within === undefined) continue
    const path = [...place, dimension, ...stepsOf(within, condition)]
    if (error.code !== 'ERR_UNKNOWN_OPTION')
      return { ...document.positionOf(path), what: `${field} is ${document.show(path)}`, expected }
    return {
      ...document.positionOfKey(path.slice(0, -1), String(path.at(-1))),
      what: `${field} does not exist`,
      expected,
    }
  }
  return { ...document.positionOf(place), what: `${field} is ${document.show(place)}`, expected }
}

/** Where in a condition something is wrong: `.not.cidr[1]`; undefined where nothing is. */
function faultIn(condition: unknown): string | undefined {
  try {
    compileRule({ name: 'a', limit: 1, window: 1, match: { d: condition } }, 'rule')
    return undefined
  } catch (error) {
    if (!(error instanceof TidegateError)) throw error
    return error.field?.slice('rule.match.d'.length) ?? ''
  }
}

/** The fields and numbers that a path in words leads by, as far as the value has them. */
function stepsOf(words: string, value: unknown): Path {
  if (typeof value !== 'object' || value === null || words === '') return []
  const names = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  for (const name of names) {
    const written = [`.${name}`, `[${JSON.stringify(name)}]`].find((text) => isFirstStep(text, words))
    if (written === undefined) continue
    const step = (value as Record<string | number, unknown>)[name]
    return [name, ...stepsOf(words.slice(written.length), step)]
  }
  return []
}

function isFirstStep(text: string, words: string): boolean {
  return words === text || (words.startsWith(text) && /[.[]/.test(words.charAt(text.length)))
}
