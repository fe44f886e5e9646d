/** What was reserved of a key. */
export interface Reservation {
  readonly cost: number
  /** The time of its admission, ms. */
  readonly at: number
  /** When it expires, ms. */
  readonly until: number
}

/** The reservations of one key, by id. */
interface Reserved {
  readonly byId: Map<string, Reservation>
  /** The same by expiry, the soonest first, from `first` on; some may have been settled or made again since. */
  order: { readonly id: string; readonly reservation: Reservation }[]
  first: number
}

/** Where a reservation is filed. */
interface Filed extends Reservation {
  readonly name: string
  readonly id: string
}

/** How many reservations each new one looks at for some that have expired. */
const SWEPT = 3
/** Below this many none is swept: they cost little, and a clock that steps back finds them still there. */
const FEW = 1024
/** How many of a key that have expired each new one of it forgets at most. */
const MOST_FORGOTTEN = 256
/** How many are compared when one has to go. */
const COMPARED = 64

/** What is reserved, by key and id; bounded in number. What is forgotten stays charged as reserved. */
export class Reservations {
  readonly #keys = new Map<string, Reserved>()
  readonly #most: number
  #size = 0
  #evicted = 0
  #cursor: Iterator<Filed> = this.#round()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#size
  }

  /** Reservations forgotten before they expired, for want of room. */
  get evicted(): number {
    return this.#evicted
  }

  /** The reservation of this id; undefined where there is none, or it has expired. */
  find(name: string, id: string, clock: number): Reservation | undefined {
    const found = this.#keys.get(name)?.byId.get(id)
    return found !== undefined && clock < found.until ? found : undefined
  }

  /** Adds one, or puts it in the place of that of its id, and forgets some of its key that have expired, as reserve.lua does. */
  add(name: string, id: string, reservation: Reservation, clock: number): void {
    this.#forgetExpired(name, clock)
    if (this.#size >= FEW || this.#size >= this.#most) this.#makeRoom(clock)
    const reserved: Reserved = this.#keys.get(name) ?? { byId: new Map(), order: [], first: 0 }
    this.#keys.set(name, reserved)
    if (!reserved.byId.has(id)) this.#size++
    reserved.byId.set(id, reservation)
    const { order } = reserved
    let [low, high] = [reserved.first, order.length]
    // Most often it is the last one.
    if ((order[high - 1]?.reservation.until ?? 0) <= reservation.until) low = high
    while (low < high) {
      const middle = (low + high) >> 1
      if ((order[middle]?.reservation.until as number) <= reservation.until) low = middle + 1
      else high = middle
    }
    order.splice(low, 0, { id, reservation })
  }

  delete(name: string, id: string): void {
    const reserved = this.#keys.get(name)
    if (reserved?.byId.delete(id) !== true) return
    this.#size--
    if (reserved.byId.size === 0) this.#keys.delete(name)
  }

  /** Forgets all of a key. */
  forget(name: string): void {
    const reserved = this.#keys.get(name)
    if (reserved === undefined) return
    this.#size -= reserved.byId.size
    this.#keys.delete(name)
    // The round may stand in it.
    reserved.byId.clear()
  }

  clear(): void {
    this.#keys.clear()
    this.#size = 0
    this.#cursor = this.#round()
  }

  #forgetExpired(name: string, clock: number): void {
    const reserved = this.#keys.get(name)
    if (reserved === undefined) return
    const { order, byId } = reserved
    for (let forgotten = 0; forgotten < MOST_FORGOTTEN && reserved.first < order.length; reserved.first++) {
      const { id, reservation } = order[reserved.first] as Reserved['order'][number]
      if (byId.get(id) !== reservation) continue
      if (reservation.until > clock) break
      this.delete(name, id)
      forgotten++
    }
    if (order.length < 2 * byId.size + FEW) return
    // Most of them are no longer there.
    reserved.order = order.slice(reserved.first).filter(({ id, reservation }) => byId.get(id) === reservation)
    reserved.first = 0
  }

  /** Forgets some that have expired; where there are too many, the one soonest to expire of those that are compared. */
  #makeRoom(clock: number): void {
    const isFull = this.#size >= this.#most
    let soonest: Filed | undefined
    for (let i = 0; i < (isFull ? COMPARED : SWEPT); i++) {
      const filed = this.#next()
      if (filed === undefined) break
      if (filed.until <= clock) this.delete(filed.name, filed.id)
      else if (soonest === undefined || filed.until < soonest.until) soonest = filed
    }
    if (this.#size < this.#most || soonest === undefined) return
    this.delete(soonest.name, soonest.id)
    this.#evicted++
  }

  /** The next one of the round, beginning again after the last; undefined where there is none. */
  #next(): Filed | undefined {
    const { value, done } = this.#cursor.next()
    if (done !== true) return value
    this.#cursor = this.#round()
    return this.#cursor.next().value
  }

  *#round(): Generator<Filed> {
    for (const [name, { byId }] of this.#keys) {
      for (const [id, reservation] of byId) yield { ...reservation, name, id }
    }
  }
}
