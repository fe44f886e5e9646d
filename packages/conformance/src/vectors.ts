import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RuleOptions } from 'tidegate'
import type { OperationName } from './sequence.ts'

export interface VectorStep {
  readonly at: number
  readonly op?: OperationName | 'cancel'
  readonly key?: string
  readonly descriptor?: Record<string, string>
  readonly cost?: number
  /** The rule that is meant, where several match. */
  readonly rule?: string
  /** Of a block: for how long. */
  readonly duration?: number | 'forever'
  /** Of a refund: the number of the step, from 1, whose decision is given back. */
  readonly of?: number
  readonly times?: number
  readonly id?: string
  /** Of a reservation: how long it can be settled. */
  readonly expiresIn?: number
  readonly expect?: unknown
  readonly error?: string
}

export interface Vector {
  readonly name: string
  readonly rules?: RuleOptions[]
  readonly limit?: number
  readonly window?: number | string
  readonly steps: readonly VectorStep[]
}

const FOLDER = join(import.meta.dirname, '../vectors')

/** Every vector of every file. */
export function readVectors(): Vector[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))
  return files.flatMap((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Vector[])
}

/** The rules of a vector; `limit` and `window` alone are a rule `r` keyed by `key`. */
export function rulesOf({ rules, limit, window }: Vector): RuleOptions[] {
  return rules ?? [{ name: 'r', key: ['key'], limit: limit as number, window: window as number }]
}
