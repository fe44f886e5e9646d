import { monotonicClock } from '../clock.ts'
import type { RuleDecision } from '../decision.ts'
import { TidegateError } from '../errors.ts'
import type { Key } from '../key.ts'
import { Demand } from './demand.ts'
import type { Leasing } from './leasing.ts'
import { type Batch, Permits } from './permits.ts'
import type { Outcome, PoolEvents, Take, Waiter } from './pool-events.ts'

/** What is taken ahead of demand is waited for at least and at most so long, ms. */
const LEAST_MS = 20
const LONGEST_MS = 1_000
/** So much later an answer is taken for lost, ms: that must not keep a key from asking again. */
const OVERDUE_MS = 100
/** After a failure nothing is taken ahead of demand for so long, ms. */
const PAUSE_MS = 100

/** One key of a leased rule: the permits that are held of it, and the requests that wait for more, in their order. */
export class Pool {
  readonly leasing: Leasing
  readonly key: Key
  readonly permits: Permits
  readonly #events: PoolEvents
  readonly #demand = new Demand()
  #queue: Waiter[] = []
  /** Counts the takes; one that is overdue is passed over when it comes. */
  #take = 0
  #isTaking = false
  #overdueAt = 0
  #aheadFrom = 0
  #isRetired = false
  #isForgotten = false
  #drained: (() => void)[] = []

  constructor(leasing: Leasing, key: Key, events: PoolEvents) {
    this.leasing = leasing
    this.key = key
    this.permits = new Permits(leasing.rule)
    this.#events = events
  }

  /** Nobody waits, and nothing is under way. */
  get isIdle(): boolean {
    return this.#queue.length === 0 && !this.#isTaking
  }

  /** How many permits a request could use now. */
  usable(now: number): number {
    if (this.#queue.length > 0) return 0
    return this.permits.batches.reduce((sum, { left, until }) => (until > now ? sum + left : sum), 0)
  }

  /** The batch that a request can use at once, before which nobody waits. */
  use(cost: number, now: number): Batch | undefined {
    if (this.#queue.length > 0) return undefined
    const batch = this.permits.use(cost, now) ?? this.#useSeveral(cost, now)
    if (batch !== undefined && this.permits.held <= this.#demand.low && !this.#isTaking) this.#takeAhead(now)
    return batch
  }

  /** @param until nobody waits after that, ms of the true monotonic clock */
  ask(cost: number, until: number): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const now = this.#events.now()
      const batch = this.use(cost, now)
      if (batch !== undefined) return resolve({ figures: this.permits.figures(now, batch.at), batch })
      this.#queue.push({ cost, until, resolve, reject })
      if (!this.#isTaking || monotonicClock() > this.#overdueAt) this.#takeFor()
    })
  }

  /** Gives back what has been admitted here and is not wanted: to whoever asks next. */
  putBack(batch: Batch, cost: number): void {
    const put = this.permits.putBack(batch, cost)
    if (put < cost) this.#events.giveBack(this, batch, cost - put)
    this.#keepPutBack()
  }

  /** Puts back what was used of a batch. @returns how much */
  refund(batch: Batch, cost: number): number {
    const put = this.permits.putBack(batch, cost)
    this.#keepPutBack()
    return put
  }

  /** Gives back to the store what is over, what demand will not use in its time, and what is more than may be held. */
  tidy(now: number, everyMs: number): void {
    const { permits, leasing } = this
    this.#end(permits.endBatches(now))
    if (permits.held === 0 || !this.isIdle) return
    const isUnused = now - permits.lastUse > Math.max(2 * everyMs, leasing.lifeMs / IDLE_PART)
    const expected = isUnused ? 0 : Math.ceil(2 * this.#demand.rate * leasing.lifeMs) + 1
    const surplus = permits.held - Math.min(expected, this.#events.most(this))
    if (surplus > 0) this.#takeOut(surplus)
  }

  /** Gives back all that is held, now and when it comes. @param isForgotten the store knows of none of it any more */
  retire(isForgotten: boolean): void {
    this.#isRetired = true
    this.#isForgotten = isForgotten
    if (isForgotten) this.#forget()
    else this.#takeOut(this.permits.held)
  }

  /** Resolves once all who wait have been answered. */
  drained(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.#drained.push(resolve))
  }

  #useSeveral(cost: number, now: number): Batch | undefined {
    this.#end(this.permits.endBatches(now))
    return this.permits.useSeveral(cost, now)
  }

  #end(batches: readonly Batch[]): void {
    for (const batch of batches) if (batch.left > 0) this.#events.giveBack(this, batch, batch.left)
  }

  #forget(): void {
    for (const { left } of this.permits.endAll()) if (left > 0) this.#events.lost(this, left)
  }

  #takeOut(most: number): void {
    for (const { batch, permits } of this.permits.takeOut(most)) this.#events.giveBack(this, batch, permits)
  }

  #takeAhead(now: number): void {
    if (now < this.#aheadFrom) return
    const rate = this.#demand.rateWith(this.permits.usedSince, now)
    const extra = this.#extra(rate)
    if (extra <= 0) return
    const started = monotonicClock()
    const until = started + Math.min(LONGEST_MS, Math.max(LEAST_MS, this.leasing.lifeMs))
    void this.#ask({ permits: extra, needed: extra, asked: 0, until }, rate, now)
  }

  /** For those who wait, and some more. */
  #takeFor(): void {
    this.#skipOverdue()
    const [head] = this.#queue
    if (head === undefined) {
      for (const resolve of this.#drained.splice(0)) resolve()
      return
    }
    const now = this.#events.now()
    this.#end(this.permits.endBatches(now))
    // What came late can be enough.
    if (head.cost <= this.permits.held) this.#serve(Number.POSITIVE_INFINITY)
    if (this.#queue[0] !== head) {
      this.#takeFor()
      return
    }
    const { held, remaining, usedSince } = this.permits
    const [wanted, until] = this.#queue.reduce(
      ([sum, latest], waiter) => [sum + waiter.cost, Math.max(latest, waiter.until)],
      [0, 0],
    )
    const rate = this.#demand.rateWith(usedSince, now)
    const canFit = head.cost <= this.leasing.rule.limit
    // What can never be admitted is asked for as it is: the store says so.
    const needed = canFit ? Math.max(1, head.cost - held) : head.cost
    const extra = Math.min(wanted - head.cost + this.#extra(rate), remaining - needed)
    const permits = needed + (canFit ? Math.max(0, extra) : 0)
    void this.#ask({ permits, needed, asked: this.#queue.length, until }, rate, now)
  }

  #extra(rate: number): number {
    const { permits, leasing } = this
    if (this.#isRetired) return 0
    const extra = this.#demand.extra(rate, leasing.lifeMs, permits.held, permits.remaining)
    return Math.min(extra, this.#events.most(this) - permits.held)
  }

  async #ask(question: Take, rate: number, now: number): Promise<void> {
    this.#demand.ask(rate, now)
    this.permits.usedSince = 0
    const take = ++this.#take
    this.#isTaking = true
    this.#overdueAt = question.until + OVERDUE_MS
    for (let next: Take | undefined = question; next !== undefined; ) next = await this.#askOnce(next, take)
    if (take === this.#take) this.#goOn()
  }

  /** @returns what to ask instead, where it was refused and less may fit */
  async #askOnce(question: Take, take: number): Promise<Take | undefined> {
    const { permits, needed, asked, until } = question
    const sent = this.#events.now()
    try {
      const figures = await this.#events.take(this, permits, until)
      const isLate = take !== this.#take
      this.permits.learn(figures, sent)
      if (figures.allowed) this.#came(permits, figures, sent, isLate ? 0 : asked)
      if (isLate || figures.allowed) return undefined
      this.#aheadFrom = sent + PAUSE_MS
      if (permits === needed) {
        if (asked > 0) this.#refuse(figures, asked)
        return undefined
      }
      const rest = figures.reason === 'over_limit' ? this.permits.remaining : 0
      return { ...question, permits: Math.max(needed, Math.min(permits - 1, rest)) }
    } catch (error) {
      if (take !== this.#take) return undefined
      this.#aheadFrom = sent + PAUSE_MS
      for (const { reject } of this.#queue.splice(0, asked)) reject(error)
      return undefined
    }
  }

  #came(permits: number, figures: RuleDecision, sent: number, asked: number): void {
    const { leasing } = this
    this.#events.taken(this, permits)
    this.#demand.came(permits)
    const { at, used } = figures
    const lifeMs = leasing.endsWithWindow ? (figures.resetAfterMs ?? 0) : leasing.lifeMs
    const usedBefore = Math.max(0, used - permits - 1)
    this.#end(this.permits.endBatches(this.#events.now()))
    // Those who have waited for it were admitted by the store, when it answered, however long that took.
    const batch = { at, until: Number.POSITIVE_INFINITY, taken: permits, usedBefore, left: permits, isOver: false }
    this.permits.add(batch)
    this.#serve(asked)
    batch.until = sent + lifeMs
    if (this.#isForgotten) this.#forget()
    else if (this.#isRetired && this.#queue.length === 0) this.#takeOut(this.permits.held)
    else this.#keepWithin()
  }

  /** Nobody will use what is put back here once it is retired. */
  #keepPutBack(): void {
    if (this.#isForgotten) this.#forget()
    else if (this.#isRetired) this.#takeOut(this.permits.held)
    else this.#keepWithin()
  }

  /** What came for those who have gone is not kept where it is more than may be held. */
  #keepWithin(): void {
    const surplus = this.permits.held - this.#events.most(this)
    if (surplus > 0) this.#takeOut(surplus)
  }

  /** Answers those who wait and can be admitted, in their order. */
  #serve(most: number): void {
    const now = this.#events.now()
    let served = 0
    for (const { cost, until, resolve, reject } of this.#queue) {
      if (served === most) break
      if (until <= monotonicClock()) reject(tooLate())
      else {
        const batch = this.permits.use(cost, now) ?? this.permits.useSeveral(cost, now)
        if (batch === undefined) break
        resolve({ figures: this.permits.figures(now, batch.at), batch })
      }
      served++
    }
    this.#queue.splice(0, served)
  }

  /** The first is refused, and so are those behind it who have asked for as much. */
  #refuse(refusal: RuleDecision, asked: number): void {
    const [head] = this.#queue as [Waiter]
    const used = Math.max(0, refusal.used - this.permits.held)
    const remaining = refusal.reason === 'blocked' ? 0 : Math.max(0, refusal.limit - used)
    const figures = { ...refusal, used, remaining }
    this.#queue = this.#queue.filter(({ cost, resolve }, i) => {
      if (i > 0 && (i >= asked || cost !== head.cost)) return true
      resolve({ figures: i === 0 ? figures : { ...figures }, batch: undefined })
      return false
    })
  }

  #goOn(): void {
    this.#isTaking = false
    this.#end(this.permits.endBatches(this.#events.now()))
    this.#serve(Number.POSITIVE_INFINITY)
    this.#takeFor()
  }

  #skipOverdue(): void {
    const now = monotonicClock()
    while (this.#queue.length > 0 && (this.#queue[0] as Waiter).until <= now) this.#queue.shift()?.reject(tooLate())
  }
}

/** Permits that nobody has used for this part of their life go back. */
const IDLE_PART = 4

function tooLate(): TidegateError {
  return new TidegateError('ERR_STORE_UNAVAILABLE', 'no permit has come in time: nobody waits for this any more')
}
