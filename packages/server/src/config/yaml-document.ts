import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLError,
} from 'yaml'
import type { ConfigProblem, Position } from './problem.ts'

/** The fields and numbers that lead to a value. */
export type Path = readonly (string | number)[]

/** A file's value, and where each part of it stands. JSON is YAML too. */
export class YamlDocument {
  readonly #document: Document.Parsed
  readonly #lines = new LineCounter()

  /** @param options `merge`: `<<` takes in the fields of another mapping, as YAML 1.1 had it */
  constructor(text: string, options: { readonly merge?: boolean } = {}) {
    // Warnings come as problems, so the package has nothing to print itself.
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      logLevel: 'error',
      merge: options.merge ?? false,
      // The plain value has one field for `1` and `"1"`: one of them would be ignored.
      uniqueKeys: (one, other) => keyOf(one) === keyOf(other),
    })
  }

  /** The plain value; or what keeps the file from having one. */
  read(): { value: unknown } | { problems: ConfigProblem[] } {
    const { errors, warnings } = this.#document
    if (errors.length + warnings.length > 0)
      return { problems: [...errors, ...warnings].map((error) => this.#syntax(error)) }
    try {
      return { value: this.#document.toJS() as unknown }
    } catch (error) {
      const what = `aliases that cannot be followed: ${(error as Error).message}`
      return { problems: [{ ...START, what, expected: 'aliases of anchors above them, and few' }] }
    }
  }

  /** Where the value stands; where it is missing, the nearest thing around it that is there. */
  positionOf(path: Path): Position {
    for (let length = path.length; length >= 0; length--) {
      const node = this.#find(path.slice(0, length))
      if (node?.range) return this.#position(node.range[0])
    }
    return START
  }

  /** Where the key of a field stands. */
  positionOfKey(path: Path, key: string): Position {
    const parent = this.#find(path)
    const pair = isMap(parent) ? parent.items.find((item) => keyOf(item.key) === key) : undefined
    const node = pair?.key as Node | undefined
    return node?.range ? this.#position(node.range[0]) : this.positionOf(path)
  }

  /** The value in the words of an error: `"abc"`, `a list`, `missing`. */
  show(path: Path): string {
    const node = this.#find(path)
    if (isMap(node)) return 'a mapping'
    if (isSeq(node)) return node.items.length === 0 ? 'an empty list' : 'a list'
    if (!isScalar(node)) return path.length === 0 ? 'empty' : 'missing'
    if (node.value === null) return 'empty'
    return shown(node.value)
  }

  /** A plain value as it is written, for texts that YAML reads as numbers or booleans. */
  sourceOf(path: Path): string | undefined {
    const node = this.#find(path)
    return isScalar(node) ? (node.source ?? String(node.value)) : undefined
  }

  #find(path: Path): Node | undefined {
    let node = this.#follow(this.#document.contents)
    for (const step of path) {
      if (isMap(node)) node = this.#follow(node.items.find((item) => keyOf(item.key) === String(step))?.value)
      else if (isSeq(node)) node = this.#follow(node.items[Number(step)])
      else return undefined
    }
    return node
  }

  #follow(node: unknown): Node | undefined {
    const target = isAlias(node) ? node.resolve(this.#document) : node
    return (target as Node | null | undefined) ?? undefined
  }

  #syntax({ code, message, pos }: YAMLError): ConfigProblem {
    const position = this.#position(pos[0])
    if (code === 'DUPLICATE_KEY')
      return { ...position, what: 'a key that stands there already', expected: 'each key once' }
    if (code === 'MULTIPLE_DOCS')
      return { ...position, what: 'a second document', expected: 'one document in the file' }
    return { ...position, what: `not readable: ${message}`, expected: 'YAML or JSON' }
  }

  #position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}

const START: Position = { line: 1, column: 1 }
const SHOWN_CHARACTERS = 40

/** A name or a value as errors show it. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`
}

function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value ?? '') : String(key)
}
