import type { Entry } from '../../admission.ts'

/** A lease among its neighbours. */
interface Lease {
  readonly id: string
  cost: number
  /** When it was granted or last renewed, ms since the epoch. */
  at: number
  previous: Lease | undefined
  next: Lease | undefined
}

/**
 * The leases of one key, by id and, as a list, in the order of their grants and renewals. No decision is made before the
 * newest of these, so what is granted or renewed always goes to the end of the list, and what expires is at its front.
 */
export class Leases {
  readonly #byId = new Map<string, Lease>()
  #first: Lease | undefined
  #last: Lease | undefined
  #held = 0

  /** The newest grant or renewal; long over where there is none. */
  get newest(): number {
    return this.#last?.at ?? Number.NEGATIVE_INFINITY
  }

  /** Whether there is a lease of this id, later than `cut`. */
  has(id: string, cut: number): boolean {
    return (this.#byId.get(id)?.at ?? Number.NEGATIVE_INFINITY) > cut
  }

  /** What the lease of this id costs; undefined where there is none later than `cut`. */
  costOf(id: string, cut: number): number | undefined {
    return this.has(id, cut) ? this.#byId.get(id)?.cost : undefined
  }

  /** The cost of the leases later than `cut`. */
  heldAfter(cut: number): number {
    let held = this.#held
    for (let lease = this.#first; lease !== undefined && lease.at <= cut; lease = lease.next) held -= lease.cost
    return held
  }

  /** The time of the lease that frees at least `excess`, with those before it from `cut` on. */
  freeing(cut: number, excess: number): number {
    let freed = 0
    let lease = this.#first
    for (; lease !== undefined; lease = lease.next) {
      if (lease.at > cut) freed += lease.cost
      if (freed >= excess) break
    }
    return lease?.at ?? this.newest
  }

  /** Those later than `cut`, oldest first, and of one time in the order of their ids. */
  entriesAfter(cut: number): Entry[] {
    const entries: Entry[] = []
    for (let lease = this.#first; lease !== undefined; lease = lease.next) {
      if (lease.at > cut) entries.push({ at: lease.at, id: lease.id, cost: lease.cost })
    }
    return entries.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
  }

  /** Forgets what has expired. Where the clock came right after having been far ahead, what is live is made now. */
  settle(spanMs: number, clock: number): void {
    const { newest } = this
    const cut = Math.max(newest, clock) - spanMs
    while (this.#first !== undefined && this.#first.at <= cut) this.#end(this.#first)
    if (newest - clock <= spanMs) return
    for (let lease = this.#first; lease !== undefined; lease = lease.next) lease.at = clock
  }

  /** Grants a lease; one that there is keeps its cost and is renewed. */
  grant(id: string, cost: number, at: number): void {
    const lease = this.#byId.get(id) ?? { id, cost, at, previous: undefined, next: undefined }
    if (this.#byId.has(id)) this.#unlink(lease)
    else {
      this.#byId.set(id, lease)
      this.#held += cost
    }
    lease.at = at
    lease.previous = this.#last
    lease.next = undefined
    if (this.#last === undefined) this.#first = lease
    else this.#last.next = lease
    this.#last = lease
  }

  /** A lease that there is costs so much more. */
  raise(id: string, cost: number): void {
    const lease = this.#byId.get(id)
    if (lease === undefined) return
    lease.cost += cost
    this.#held += cost
  }

  /** Takes up to `cost` from one lease, which ends where nothing is left, and says how much. */
  take(id: string, cost: number): number {
    const lease = this.#byId.get(id)
    if (lease === undefined) return 0
    const taken = Math.min(cost, lease.cost)
    if (taken === lease.cost) this.#end(lease)
    else {
      lease.cost -= taken
      this.#held -= taken
    }
    return taken
  }

  /** Takes up to `cost` from the leases that end first, and says how much. */
  takeOldest(cost: number): number {
    let taken = 0
    while (taken < cost && this.#first !== undefined) taken += this.take(this.#first.id, cost - taken)
    return taken
  }

  #end(lease: Lease): void {
    this.#unlink(lease)
    this.#byId.delete(lease.id)
    this.#held -= lease.cost
  }

  #unlink({ previous, next }: Lease): void {
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
  }
}
