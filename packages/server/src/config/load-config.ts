import type { RuleOptions } from 'tidegate'
import type { HeaderDimensions } from '../forward-auth/forwarded-descriptor.ts'
import type { StoreOptions } from '../store/open-store.ts'
import { checkValues } from './check-values.ts'
import { type ConfigProblem, inFileOrder } from './problem.ts'
import { readText } from './read-text.ts'
import { configSchema, type DenyStatus } from './schema.ts'
import { type Path, shown, YamlDocument } from './yaml-document.ts'

/** A configuration file that has been checked. */
export interface Config {
  readonly rules: RuleOptions[]
  /** The dimensions that forward auth takes from headers of the gateway. */
  readonly headers: HeaderDimensions
  /** The status of a refusal by forward auth, where the gateway does not ask for another. Default: 429. */
  readonly denyStatus: DenyStatus
  /** How long decisions wait for Redis, and when it is not asked. */
  readonly store: StoreOptions
}

/** A configuration, and the file that it stands in. */
export interface LoadedConfig {
  readonly config: Config
  readonly document: YamlDocument
}

/** A configuration, or everything that is wrong with its file, in the order of that. */
type Loaded = LoadedConfig | { readonly problems: ConfigProblem[] }

/** Reads a configuration file. Waits no longer than `patienceMs` for a pipe; default: 10,000. */
export function loadConfig(file: string, patienceMs?: number): Loaded {
  const read = readText(file, patienceMs)
  if ('problem' in read) return { problems: [read.problem] }
  return parseConfig(read.text)
}

/** The same for a text. */
export function parseConfig(text: string): Loaded {
  const document = new YamlDocument(text)
  const read = document.read()
  if ('problems' in read) return { problems: inFileOrder(read.problems) }
  const checked = configSchema.safeParse(read.value)
  const issues = checked.success ? [] : checked.error.issues
  const misshapen = new Set(issues.filter(({ path }) => path[0] === 'rules').map(({ path }) => Number(path[1])))
  const rules = rulesOf(read.value)
  const values = checkValues(rules, misshapen, document)
  const problems = [...issues.flatMap((issue) => shapeProblems(issue, document)), ...values]
  if (!checked.success || problems.length > 0) return { problems: inFileOrder(problems) }
  const { forwardAuth, denyStatus = 429, store = {} } = checked.data
  // The values that have been checked are the ones that are served, not a copy of what the schema knows of them.
  const config = {
    rules: [...rules] as RuleOptions[],
    headers: forwardAuth?.headers ?? {},
    denyStatus,
    store: store as StoreOptions,
  }
  return { config, document }
}

function rulesOf(value: unknown): readonly unknown[] {
  const rules = (value as { rules?: unknown } | null)?.rules
  return Array.isArray(rules) ? rules : []
}

/** What is used of an issue of zod; the schema's messages say what was expected. */
interface Issue {
  readonly code: string
  readonly path: PropertyKey[]
  readonly message: string
  readonly keys?: string[]
}

function shapeProblems({ code, path, message, keys = [] }: Issue, document: YamlDocument): ConfigProblem[] {
  const steps = path.map((step) => (typeof step === 'number' ? step : String(step)))
  if (code === 'unrecognized_keys') {
    return keys.map((key) => {
      const what = `${fieldOf([...steps, key])} does not exist`
      return { ...document.positionOfKey(steps, key), what, expected: message }
    })
  }
  if (code === 'invalid_key') {
    const what = `${fieldOf(steps)} cannot be a dimension here`
    return [{ ...document.positionOfKey(steps.slice(0, -1), String(steps.at(-1))), what, expected: message }]
  }
  const what = `${steps.length === 0 ? 'the file' : fieldOf(steps)} is ${document.show(steps)}`
  return [{ ...document.positionOf(steps), what, expected: message }]
}

function fieldOf(path: Path): string {
  return path.reduce<string>((field, step) => {
    if (typeof step === 'number') return `${field}[${step}]`
    if (!/^[\w.$-]{1,64}$/.test(step)) return `${field}[${shown(step)}]`
    return field === '' ? step : `${field}.${step}`
  }, '')
}
