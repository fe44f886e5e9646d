import { invalid } from '../../errors.ts'
import { checkInteger, isRecord } from '../../options.ts'
import { compileRule, type Rule } from '../../rule.ts'

/** So many rules are kept as they were last read; a limit that changes with each request must not fill the memory. */
const MOST_KEPT = 1_000

/** Reads rules, and keeps those that come again. */
export class RuleReader {
  readonly #kept = new Map<string, Rule>()

  /** @throws TidegateError as `createGate`, `field` in front */
  read(value: unknown, field: string): Rule {
    const text = JSON.stringify(value)
    const known = this.#kept.get(text)
    if (known !== undefined) return known
    const rule = readRule(value, field)
    if (this.#kept.size >= MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value as string)
    this.#kept.set(text, rule)
    return rule
  }
}

function readRule(value: unknown, field: string): Rule {
  if (!isRecord(value)) throw invalid('ERR_INVALID_OPTION', field, 'a rule', value)
  const { id, slot = -1, shards, ...options } = value
  const own = compileRule(options, field)
  const rule = shards === undefined ? own : { ...own, id: idOfWhole(options, shards, field) }
  if (id !== rule.id) {
    const expected = `"${rule.id}", which this service files its counts under: client and service are of different versions`
    throw invalid('ERR_INVALID_OPTION', `${field}.id`, expected, id)
  }
  return { ...rule, slot: checkInteger(slot, `${field}.slot`, -1, rule.key.length - 1) }
}

/** What the state of a shard is filed under: it has a part of the limit, and the id of the whole. */
function idOfWhole(options: Record<string, unknown>, shards: unknown, field: string): string {
  const isBucket = options['capacity'] !== undefined
  const whole = { limit: shards, ...(isBucket && { capacity: shards, refill: shards }) }
  return compileRule({ ...options, ...whole, shards }, field).id
}
