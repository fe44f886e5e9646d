import type { ConfigProblem } from '../config/problem.ts'
import { type Path, shown, type YamlDocument } from '../config/yaml-document.ts'

/** Reads the fields of mappings in a file, and keeps what is wrong with them. */
export class FieldReader {
  readonly problems: ConfigProblem[] = []
  readonly #document: YamlDocument
  readonly #fields: readonly string[]

  /** @param fields every field that any mapping of the file can have: which stands where is not looked at */
  constructor(document: YamlDocument, fields: readonly string[]) {
    this.#document = document
    this.#fields = fields
  }

  /** A mapping whose fields exist; undefined, and a problem, where it is none. */
  mapping(value: unknown, path: Path): Record<string, unknown> | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.refuse(path, 'a mapping')
      return undefined
    }
    for (const field of Object.keys(value)) {
      if (this.#fields.includes(field)) continue
      const what = `${fieldAt([...path, field])} does not exist`
      const expected = `one of ${this.#fields.join(', ')}`
      this.problems.push({ ...this.#document.positionOfKey(path, field), what, expected })
    }
    return value as Record<string, unknown>
  }

  /** A list of mappings; none where it is missing. */
  list(value: unknown, path: Path): readonly unknown[] {
    if (value === undefined || value === null) return []
    if (Array.isArray(value)) return value
    this.refuse(path, 'a list')
    return []
  }

  /** A text; a number or a boolean is the text that it is written with. Empty where it is missing. */
  text(value: unknown, path: Path): string {
    return this.#text(value, path) ?? ''
  }

  /** The same, where it may not be empty. */
  someText(value: unknown, path: Path, expected: string): string {
    const text = this.#text(value, path)
    if (text === '') this.refuse(path, expected)
    return text ?? ''
  }

  #text(value: unknown, path: Path): string | undefined {
    if (value === undefined || value === null) return ''
    if (typeof value === 'string') return value
    if (typeof value !== 'object') return this.#document.sourceOf(path) ?? String(value)
    this.refuse(path, 'a string')
    return undefined
  }

  /** True or false, also as YAML 1.1 spelt them; false where it is missing. */
  flag(value: unknown, path: Path): boolean {
    if (value === undefined || value === null) return false
    if (typeof value === 'boolean') return value
    const spelt = typeof value === 'string' ? value.toLowerCase() : ''
    if (['yes', 'on', 'y'].includes(spelt)) return true
    if (['no', 'off', 'n'].includes(spelt)) return false
    this.refuse(path, 'true or false')
    return false
  }

  refuse(path: Path, expected: string): void {
    const what = `${path.length === 0 ? 'the file' : fieldAt(path)} is ${this.#document.show(path)}`
    this.problems.push({ ...this.#document.positionOf(path), what, expected })
  }

  /** A problem in words of its own. */
  report(path: Path, what: string, expected: string): void {
    this.problems.push({ ...this.#document.positionOf(path), what, expected })
  }
}

/** `descriptors[0].rate_limit.unit` */
export function fieldAt(path: Path): string {
  return path.reduce<string>((field, step) => {
    if (typeof step === 'number') return `${field}[${step}]`
    if (!/^[\w.-]{1,64}$/.test(step)) return `${field}[${shown(step)}]`
    return field === '' ? step : `${field}.${step}`
  }, '')
}
