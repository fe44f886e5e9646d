import type { Admission } from '../../admission.ts'
import { monotonicClock } from '../../clock.ts'
import { wasHeldBefore } from '../../decision.ts'
import { invalid, TidegateError } from '../../errors.ts'
import { checkEach, type Key } from '../../key.ts'
import { checkFields, checkInteger, isRecord } from '../../options.ts'
import { parseBlock } from '../../penalty.ts'
import { checkCost, checkId } from '../../request.ts'
import type { Rule } from '../../rule.ts'
import { type Check, checkStore, type Reserve, type Store } from '../store.ts'
import { Instances } from './instances.ts'
import { RuleReader } from './rule-reader.ts'
import {
  MOST_OPERATIONS,
  MOST_RULES,
  type OperationName,
  type WireAnswer,
  type WireError,
  type WireResponse,
} from './wire.ts'

/** The side of the protocol that has the store. */
export interface StoreService {
  /**
   * Does what the parsed body of a `POST /v1/store` asks for.
   * @returns the body of the answer; what is wrong with one operation is told in its place
   * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY` where the body is wrong; nothing was done
   */
  answer(body: unknown): Promise<WireResponse>
}

export interface StoreServiceOptions {
  /** Is told of what nobody foresaw, of which the client learns only that there was a fault. */
  readonly onFault?: (error: unknown) => void
}

const MOST_CHECKS = 1000
const MOST_LIFE_MS = 3_600_000

/**
 * Lets `remoteStore` use this store, over whatever carries JSON. Whoever is asked must let in only those who may: they count
 * by rules of their own.
 * @throws TidegateError `ERR_INVALID_OPTION` where it is no store
 */
export function storeService(store: Store, { onFault }: StoreServiceOptions = {}): StoreService {
  return new LocalStoreService(checkStore(store), onFault)
}

type Fields = Readonly<Record<string, unknown>>
type Rules = readonly (Rule | TidegateError)[]

/** The fields of each operation besides `op`. */
const FIELDS: Record<OperationName, readonly string[]> = {
  consume: ['checks'],
  peek: ['checks'],
  reserve: ['checks', 'expiresIn'],
  settle: ['rule', 'key', 'id', 'cost'],
  refund: ['rule', 'key', 'cost', 'of'],
  renew: ['rule', 'key', 'id'],
  block: ['rule', 'key', 'duration'],
  unblock: ['rule', 'key'],
  entries: ['rule', 'key'],
  reset: ['rule', 'key'],
  heartbeat: ['instance', 'life'],
  ping: [],
}

class LocalStoreService implements StoreService {
  readonly #store: Store
  readonly #reader = new RuleReader()
  readonly #instances = new Instances(monotonicClock)

  readonly #onFault: StoreServiceOptions['onFault']

  constructor(store: Store, onFault: StoreServiceOptions['onFault']) {
    this.#store = store
    this.#onFault = onFault
  }

  async answer(body: unknown): Promise<WireResponse> {
    const { rules = [], operations } = checkFields(body, 'body', ['rules', 'operations'])
    const compiled = listOf(rules, 'rules', MOST_RULES).map((rule, i) => this.#read(rule, `rules[${i}]`))
    const asked = listOf(operations, 'operations', MOST_OPERATIONS)
    // All are begun in this turn, in their order, so that the store can take them in one call.
    return { answers: await Promise.all(asked.map((one, i) => this.#answerTo(one, compiled, `operations[${i}]`))) }
  }

  /** A rule, or what is wrong with it: an error of the operations that name it, and of no other. */
  #read(rule: unknown, field: string): Rule | TidegateError {
    try {
      return this.#reader.read(rule, field)
    } catch (error) {
      if (error instanceof TidegateError) return error
      throw error
    }
  }

  async #answerTo(operation: unknown, rules: Rules, field: string): Promise<WireAnswer> {
    try {
      return await this.#perform(operation, rules, field)
    } catch (error) {
      if (!(error instanceof TidegateError)) this.#onFault?.(error)
      return { error: errorOf(error) }
    }
  }

  #perform(operation: unknown, rules: Rules, field: string): Promise<WireAnswer> {
    const op = isRecord(operation) ? operation['op'] : undefined
    if (typeof op !== 'string' || !Object.hasOwn(FIELDS, op)) {
      throw invalid('ERR_INVALID_OPTION', `${field}.op`, `one of ${Object.keys(FIELDS).join(', ')}`, op)
    }
    const name = op as OperationName
    const fields = checkFields(operation, field, ['op', ...FIELDS[name]])
    if (name === 'consume' || name === 'peek') return this.#decide(checksOf(fields, rules, field), name)
    if (name === 'reserve') return this.#reserve(fields, rules, field)
    return this.#operate(name, fields, rules, field)
  }

  async #decide(checks: readonly Check[], mode: 'consume' | 'peek'): Promise<WireAnswer> {
    return this.#shown(await this.#store.decide(checks, mode))
  }

  async #reserve(fields: Fields, rules: Rules, field: string): Promise<WireAnswer> {
    const checks = checksOf(fields, rules, field)
    for (const { id } of checks) checkId(id)
    const expiresInMs = checkInteger(fields['expiresIn'], `${field}.expiresIn`, 1, Number.MAX_SAFE_INTEGER)
    return this.#shown(await this.#store.reserve(checks as Reserve[], expiresInMs))
  }

  #shown(figures: Awaited<ReturnType<Store['decide']>>): WireAnswer {
    const [first] = figures
    const source = first === undefined ? 'store' : (this.#store.sourceOf?.(first) ?? 'store')
    return { figures: figures.map((one) => (wasHeldBefore(one) ? { ...one, held: true } : one)), source }
  }

  async #operate(
    name: Exclude<OperationName, 'consume' | 'peek' | 'reserve'>,
    fields: Fields,
    rules: Rules,
    field: string,
  ): Promise<WireAnswer> {
    if (name === 'ping') return this.#store.ping().then(() => ({ result: null }))
    if (name === 'heartbeat') {
      const life = checkInteger(fields['life'], `${field}.life`, 0, MOST_LIFE_MS)
      return { result: this.#instances.beat(checkId(fields['instance']), life) }
    }
    const rule = ruleAt(fields['rule'], rules, `${field}.rule`)
    const key = keyOf(fields['key'], `${field}.key`)
    const store = this.#store
    switch (name) {
      case 'settle':
        return { result: await store.settle(rule, key, checkId(fields['id']), checkCost(fields['cost'])) }
      case 'refund':
        return { result: await store.refund(rule, key, checkCost(fields['cost']), admissionOf(fields['of'], field)) }
      case 'renew':
        return { result: await store.renew(rule, key, checkId(fields['id'])) }
      case 'block':
        await store.block(rule, key, parseBlock(fields['duration'], `${field}.duration`))
        return { result: null }
      case 'reset':
        await store.reset(rule, key)
        return { result: null }
      default:
        return { result: await store[name](rule, key) }
    }
  }
}

function checksOf({ checks }: Fields, rules: Rules, field: string): Check[] {
  return listOf(checks, `${field}.checks`, MOST_CHECKS).map((check, i): Check => {
    const place = `${field}.checks[${i}]`
    const { rule, key, cost, id } = checkFields(check, place, ['rule', 'key', 'cost', 'id'])
    const found = { rule: ruleAt(rule, rules, `${place}.rule`), key: keyOf(key, `${place}.key`), cost: checkCost(cost) }
    return id === undefined ? found : { ...found, id: checkId(id) }
  })
}

function ruleAt(place: unknown, rules: Rules, field: string): Rule {
  const rule = rules[checkInteger(place, field, 0, MOST_RULES)]
  if (rule instanceof TidegateError) throw rule
  if (rule !== undefined) return rule
  throw invalid('ERR_INVALID_OPTION', field, `the place of one of the ${rules.length} rules`, place)
}

function keyOf(key: unknown, field: string): Key {
  if (typeof key !== 'string' && !Array.isArray(key)) {
    throw invalid('ERR_INVALID_KEY', field, 'a string or an array of strings', key)
  }
  checkEach(key)
  return key
}

function admissionOf(value: unknown, field: string): Admission | undefined {
  if (value === undefined) return undefined
  const { at, id, usedBefore, source } = checkFields(value, `${field}.of`, ['at', 'id', 'usedBefore', 'source'])
  if (source !== undefined && source !== 'store' && source !== 'local') {
    throw invalid('ERR_INVALID_OPTION', `${field}.of.source`, 'store or local', source)
  }
  return {
    at: at === undefined ? undefined : checkInteger(at, `${field}.of.at`, 0, Number.MAX_SAFE_INTEGER),
    id: id === undefined ? undefined : checkId(id),
    ...(usedBefore !== undefined && { usedBefore: checkCost(usedBefore) }),
    ...(source !== undefined && { source }),
  }
}

function listOf(value: unknown, field: string, most: number): readonly unknown[] {
  if (Array.isArray(value) && value.length <= most) return value
  throw invalid('ERR_INVALID_OPTION', field, `an array of at most ${most.toLocaleString('en-US')}`, value)
}

/** Nothing of an unforeseen error is told. */
function errorOf(error: unknown): WireError {
  if (!(error instanceof TidegateError)) return { code: 'ERR_STORE_UNAVAILABLE', message: 'a fault of the store' }
  const { code, message, field, expected } = error
  return { code, message, ...(field !== undefined && { field }), ...(expected !== undefined && { expected }) }
}
