import { monotonicClock } from '../../clock.ts'
import { TidegateError } from '../../errors.ts'
import { passing } from '../../resilience/failure.ts'
import { afterThisTurn } from './after-this-turn.ts'
import { ExchangeFailure, type ExchangeSettings, exchange } from './exchange.ts'
import { Body, errorOf, isRepeatable, type Pending } from './pending.ts'
import { type Replica, Replicas } from './replicas.ts'
import { MOST_RULES } from './wire.ts'

export interface LaneSettings extends ExchangeSettings {
  readonly urls: readonly string[]
  /** The most operations in one batch. */
  readonly maxBatch: number
  /** The most operations that may wait for an answer. */
  readonly maxPending: number
}

/** A body is closed when it has so many code units; a service takes bodies of 4 MiB. */
const FULL = 262_144

const PING = '{"operations":[{"op":"ping"}]}'

/**
 * Joins the operations of one turn of the event loop into one batch, and has one batch under way at a time: what comes
 * meanwhile is the next. So operations are done in the order in which they were asked for, and batches grow with the load.
 *
 * A batch that certainly was not done goes to the next replica, whole. Of one that may have been done, what would charge
 * twice fails, and the rest is asked again.
 */
export class Lane {
  readonly #settings: LaneSettings
  readonly #replicas: Replicas
  #queue: Pending[] = []
  #waiting = 0
  #isBusy = false

  constructor(settings: LaneSettings) {
    this.#settings = settings
    this.#replicas = new Replicas(settings.urls, monotonicClock, ({ url }) => exchange(url, PING, 1, settings))
  }

  /** @throws TidegateError `ERR_STORE_OVERLOADED` */
  add(pending: Pending): void {
    const { maxPending } = this.#settings
    if (this.#waiting >= maxPending) {
      const message = `the service: ${maxPending} operations are waiting for an answer already`
      throw new TidegateError('ERR_STORE_OVERLOADED', message)
    }
    this.#waiting++
    this.#queue.push(pending)
    if (this.#isBusy) return
    this.#isBusy = true
    afterThisTurn(() => void this.#run())
  }

  /** Asks every replica the same, whatever becomes of the others. */
  async askAll(body: string): Promise<PromiseSettledResult<unknown>[]> {
    return Promise.allSettled(this.#replicas.all.map(({ url }) => exchange(url, body, 1, this.#settings)))
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const [batch, body] = this.#take()
      await this.#send(batch, body)
      this.#waiting -= batch.length
    }
    this.#isBusy = false
  }

  /** The next operations that fit into one body, and that. */
  #take(): [Pending[], Body] {
    const { maxBatch } = this.#settings
    const body = new Body()
    let count = 0
    while (count < Math.min(maxBatch, this.#queue.length) && body.length < FULL) {
      const next = this.#queue[count] as Pending
      if (count > 0 && body.rules + next.rules > MOST_RULES) break
      body.add(next)
      count++
    }
    return [this.#queue.splice(0, count), body]
  }

  async #send(batch: readonly Pending[], whole: Body): Promise<void> {
    const asked = new Set<Replica>()
    let left = batch
    let failure: ExchangeFailure | undefined
    for (;;) {
      left = stillWaiting(left)
      const replica = this.#replicas.next(asked)
      if (left.length === 0 || replica === undefined) break
      asked.add(replica)
      failure = await this.#ask(replica, left, left === batch ? whole : bodyOf(left))
      if (failure === undefined) return
      if (!failure.isOfService) break
      // While another is there this one's failure says nothing of the service as a whole.
      const error = unavailable(failure, this.#replicas.hasOther(replica))
      if (!failure.isUndone) left = left.filter((pending) => isRepeatable(pending) || void pending.reject(error))
    }
    const error = unavailable(failure, false)
    for (const { reject } of left) reject(error)
  }

  /** @returns why it has not answered */
  async #ask(replica: Replica, batch: readonly Pending[], body: Body): Promise<ExchangeFailure | undefined> {
    try {
      const answers = await exchange(replica.url, body.toString(), batch.length, this.#settings)
      this.#replicas.succeeded(replica)
      for (const [i, { resolve, reject }] of batch.entries()) {
        const answer = answers[i] as (typeof answers)[number]
        const error = errorOf(answer)
        if (error === undefined) resolve(answer)
        else reject(error)
      }
      return undefined
    } catch (error) {
      const failure = error instanceof ExchangeFailure ? error : new ExchangeFailure(String(error), { isUndone: false })
      if (failure.isOfService) this.#replicas.failed(replica)
      return failure
    }
  }
}

function bodyOf(batch: readonly Pending[]): Body {
  const body = new Body()
  for (const pending of batch) body.add(pending)
  return body
}

function unavailable(failure: ExchangeFailure | undefined, isPassing: boolean): TidegateError {
  const message = failure?.message ?? 'the service: nobody waits for this any more: it was not sent'
  const error = new TidegateError('ERR_STORE_UNAVAILABLE', message, { cause: failure })
  return isPassing ? passing(error) : error
}

/** Rejects what nobody waits for any more, before it is sent. */
function stillWaiting(batch: readonly Pending[]): readonly Pending[] {
  const now = monotonicClock()
  if (batch.every(({ until }) => until > now)) return batch
  const late = unavailable(undefined, false)
  return batch.filter(({ until, reject }) => until > now || void reject(late))
}
