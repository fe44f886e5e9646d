/** One reservation; times in ms. */
export interface BookedReservation {
  readonly id: string
  readonly cost: number
  /** The time of its admission. */
  readonly at: number
  /** When it expires. */
  readonly until: number
}

/** What is reserved of each counter, as plain lists. */
export class ReservationBook {
  readonly #booked = new Map<string, readonly BookedReservation[]>()

  find(counter: string, id: string, clock: number): BookedReservation | undefined {
    return this.#of(counter).find((one) => one.id === id && clock < one.until)
  }

  /** Adds one in the place of that of its id; the counter's others that have expired by now are forgotten. */
  add(counter: string, reservation: BookedReservation, clock: number): void {
    const others = this.#of(counter).filter(({ id, until }) => clock < until && id !== reservation.id)
    this.#booked.set(counter, [...others, reservation])
  }

  remove(counter: string, id: string): void {
    this.#booked.set(
      counter,
      this.#of(counter).filter((one) => one.id !== id),
    )
  }

  forget(counter: string): void {
    this.#booked.delete(counter)
  }

  #of(counter: string): readonly BookedReservation[] {
    return this.#booked.get(counter) ?? []
  }
}
