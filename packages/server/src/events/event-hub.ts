import { createLimiter } from 'tidegate'
import type { EventData, EventType, ServiceEvent } from './service-event.ts'

/** So many events are kept for those who come again. */
const KEPT = 1_000

/** How many of each type are told in a second at most; of the others it is told how many there were. */
const MOST_A_SECOND: Record<EventType, number> = { denial: 100, fallback: 20, breaker: 20, config: 20 }

type Listener = (event: ServiceEvent) => void

/** Tells events to whoever listens, in this process and in those beside it, and keeps the latest. */
export class EventHub {
  readonly #bound = Object.fromEntries(
    Object.entries(MOST_A_SECOND).map(([type, limit]) => [type, createLimiter({ limit, window: '1s' })]),
  ) as Record<EventType, ReturnType<typeof createLimiter>>
  readonly #suppressed: Record<EventType, number> = { denial: 0, fallback: 0, breaker: 0, config: 0 }
  readonly #listeners = new Set<Listener>()
  readonly #kept: ServiceEvent[] = []
  #share: Listener = () => undefined
  #last = 0

  /** Has each event of this process told to the others. */
  shareWith(share: Listener): void {
    this.#share = share
  }

  tell<Type extends EventType>(type: Type, data: () => EventData[Type]): void {
    if (!this.#bound[type].limitSync(type).allowed) {
      this.#suppressed[type]++
      return
    }
    const at = Date.now()
    const suppressed = this.#suppressed[type]
    this.#suppressed[type] = 0
    const id = `${at}-${process.pid}-${++this.#last}`
    const event = { id, type, data: { at, ...data(), ...(suppressed > 0 && { suppressed }) } }
    this.take(event)
    this.#share(event)
  }

  /** Takes an event that another process has told. */
  take(event: ServiceEvent): void {
    this.#kept.push(event)
    if (this.#kept.length > KEPT) this.#kept.shift()
    for (const listener of this.#listeners) listener(event)
  }

  /** Those after the one with this id; undefined where that is not kept any more. */
  since(id: string): readonly ServiceEvent[] | undefined {
    const place = this.#kept.findLastIndex((event) => event.id === id)
    return place < 0 ? undefined : this.#kept.slice(place + 1)
  }

  /** @returns ends it */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
