import type { Admission, Entry } from '../../admission.ts'
import type { Clock } from '../../clock.ts'
import { type Atomicity, heldBefore, type RuleDecision, type Source } from '../../decision.ts'
import { TidegateError } from '../../errors.ts'
import { checkEach, type Key } from '../../key.ts'
import type { Settlement } from '../../reservation.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode, Reserve, Store } from '../store.ts'
import type { Lane } from './lane.ts'
import type { Pending } from './pending.ts'
import type { OperationName, WireAnswer, WireFigures } from './wire.ts'

interface ServiceStoreSettings {
  readonly clock: Clock
  readonly cluster: boolean
}

/** Counts where the lane leads. */
export class ServiceStore implements Store {
  readonly clock: Clock
  readonly cluster: boolean
  readonly #lane: Lane
  /** Figures that the service made without its store. */
  readonly #local = new WeakSet<RuleDecision>()
  #closed = false

  constructor(lane: Lane, { clock, cluster }: ServiceStoreSettings) {
    this.#lane = lane
    this.clock = clock
    this.cluster = cluster
  }

  atomicity(checks: readonly Check[]): Atomicity {
    return this.cluster && checks.length > 1 ? 'compensated' : 'strict'
  }

  sourceOf(figures: RuleDecision): Source {
    return this.#local.has(figures) ? 'local' : 'store'
  }

  decide(checks: readonly Check[], mode: Mode, until?: number): Promise<RuleDecision[]> {
    return this.#decide(mode, checks, {}, until)
  }

  reserve(checks: readonly Reserve[], expiresInMs: number, until?: number): Promise<RuleDecision[]> {
    return this.#decide('reserve', checks, { expiresIn: expiresInMs }, until)
  }

  settle(rule: Rule, key: Key, id: string, cost: number): Promise<Settlement> {
    return this.#operate('settle', rule, key, { id, cost })
  }

  refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number> {
    // Its shard is in the key.
    const { shard: _, ...admission } = of ?? {}
    return this.#operate('refund', rule, key, { cost, ...(of && { of: admission }) })
  }

  renew(rule: Rule, key: Key, id: string): Promise<boolean> {
    return this.#operate('renew', rule, key, { id })
  }

  entries(rule: Rule, key: Key): Promise<Entry[]> {
    return this.#operate('entries', rule, key)
  }

  async block(rule: Rule, key: Key, durationMs: number): Promise<void> {
    const duration = durationMs === Number.POSITIVE_INFINITY ? 'forever' : durationMs
    await this.#operate('block', rule, key, { duration })
  }

  unblock(rule: Rule, key: Key): Promise<boolean> {
    return this.#operate('unblock', rule, key)
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    await this.#operate('reset', rule, key)
  }

  /** Every replica is told: clients can ask different ones first. @returns how many the one knows that knows most */
  async heartbeat(instance: string, lifeMs: number): Promise<number> {
    const body = JSON.stringify({ operations: [{ op: 'heartbeat', instance, life: lifeMs }] })
    const answers = await this.#lane.askAll(body)
    const counts = answers.flatMap((one) => {
      const [answer] = one.status === 'fulfilled' ? (one.value as WireAnswer[]) : []
      return answer !== undefined && 'result' in answer ? [Number(answer.result)] : []
    })
    if (counts.length > 0) return Math.max(...counts)
    throw new TidegateError('ERR_STORE_UNAVAILABLE', 'no service has answered a heartbeat')
  }

  async ping(): Promise<void> {
    await this.#ask({ op: 'ping', rules: 0, write: () => '{"op":"ping"}' })
  }

  /** What has been asked before is still answered. */
  async close(): Promise<void> {
    this.#closed = true
  }

  async #decide(op: OperationName, checks: readonly Check[], more: object, until?: number): Promise<RuleDecision[]> {
    for (const { key } of checks) checkEach(key)
    const write: Pending['write'] = (placeOf) => {
      const written = checks.map(({ rule, key, cost, id }) => ({ rule: placeOf(rule), key, cost, id }))
      return JSON.stringify({ op, checks: written, ...more })
    }
    const answer = await this.#ask({ op, rules: checks.length, write }, until)
    if (!('figures' in answer) || answer.figures.length !== checks.length) throw unexpected()
    const figures = answer.figures.map(figuresOf)
    if (answer.source === 'local') for (const one of figures) this.#local.add(one)
    return figures
  }

  async #operate<Result>(op: OperationName, rule: Rule, key: Key, more: object = {}): Promise<Result> {
    checkEach(key)
    const write: Pending['write'] = (placeOf) => JSON.stringify({ op, rule: placeOf(rule), key, ...more })
    const answer = await this.#ask({ op, rules: 1, write })
    if (!('result' in answer)) throw unexpected()
    return answer.result as Result
  }

  #ask(asked: Pick<Pending, 'op' | 'rules' | 'write'>, until = Number.POSITIVE_INFINITY): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new TidegateError('ERR_CLOSED', 'the remote store has been closed')
      this.#lane.add({ ...asked, until, resolve, reject })
    })
  }
}

function figuresOf(figures: WireFigures): RuleDecision {
  if (figures.held !== true) return figures
  const { held: _, ...plain } = figures
  return heldBefore(plain)
}

function unexpected(): TidegateError {
  return new TidegateError('ERR_STORE_UNAVAILABLE', 'the service: an answer to another question')
}
