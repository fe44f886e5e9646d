import type { Descriptor } from '../descriptor.ts'
import { TidegateError } from '../errors.ts'
import { changeLimit, type WrittenLimit } from '../limit-change.ts'
import { invalidLimit, LIMIT_EXPECTED, type LimitSource } from '../limit-source.ts'
import type { Match } from '../matching/match.ts'
import { RuleIndex } from '../matching/rule-index.ts'
import { type Rule, withLimit } from '../rule.ts'

/** An override with the rule as it then is; undefined: without limit. */
interface Exception {
  readonly match: Match
  readonly rule: Rule | undefined
}

/** How many limits that came with requests are kept made up. Plans are few; where limits are many, making one up is cheap. */
const MOST_KEPT = 64

/** A rule as a gate applies it: whom it skips, and which limit each request has. */
export class GateRule {
  readonly rule: Rule
  /** What a request must meet for the rule to be asked at all. */
  readonly match: Match
  readonly #skip: RuleIndex<{ readonly match: Match }> | undefined
  readonly #exceptions: RuleIndex<Exception> | undefined
  readonly #byLimit = new Map<number, Rule>()

  constructor(rule: Rule) {
    const { overrides, skip } = rule
    this.rule = rule
    this.match = rule.match
    this.#skip = skip.length === 0 ? undefined : new RuleIndex(skip.map((match) => ({ match })))
    if (overrides.length === 0) return
    this.#exceptions = new RuleIndex(
      overrides.map(({ match, limit }) => ({ match, rule: limit && withLimit(rule, limit) })),
    )
  }

  /** Whether a request that matches is none of this rule's all the same. */
  skips(descriptor: Descriptor): boolean {
    return this.#skip?.first(descriptor) !== undefined
  }

  /**
   * The rule with the limit that this request has; undefined where it has none.
   * @throws TidegateError `ERR_INVALID_LIMIT`
   */
  limited(descriptor: Descriptor): Rule | undefined {
    const exception = this.#exceptions?.first(descriptor)
    if (exception !== undefined) return exception.rule
    const { unlimited, limitSource, written } = this.rule
    if (unlimited) return undefined
    if (limitSource === undefined || written === undefined) return this.rule
    return this.#atLimit(limitSource.of(descriptor), limitSource, written)
  }

  /** The same object for the same limit, so that a batch has it once, and so that a bucket's rate is reckoned once. */
  #atLimit(limit: unknown, source: LimitSource, written: WrittenLimit): Rule {
    const known = this.#byLimit.get(limit as number)
    if (known !== undefined) return known
    if (typeof limit !== 'number') throw invalidLimit(source, LIMIT_EXPECTED, limit)
    const made = withLimit(this.rule, changed(limit, source, written))
    if (this.#byLimit.size >= MOST_KEPT) this.#byLimit.clear()
    this.#byLimit.set(limit, made)
    return made
  }
}

function changed(limit: number, source: LimitSource, written: WrittenLimit) {
  try {
    return changeLimit(written, { limit }, '')
  } catch (error) {
    if (!(error instanceof TidegateError)) throw error
    throw invalidLimit(source, error.expected ?? LIMIT_EXPECTED, limit)
  }
}
