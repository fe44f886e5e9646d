import type { WarnOnce } from './warnings.ts'

/** A mistake of this kind shows in the first requests; later ones are not looked at. */
const LOOKED_AT = 1000

/** Which counters have counted a request. */
const counted = new WeakMap<object, Set<string>>()

/** A number for each store or gate. */
const numbers = new WeakMap<object, number>()
let latest = 0

/** Looks whether the same request comes to the same counters twice. */
export class DoubleCounts {
  readonly #counters: readonly string[]
  readonly #warn: WarnOnce
  #left = LOOKED_AT

  constructor(places: readonly (readonly [place: object, counter: string])[], warn: WarnOnce) {
    this.#counters = places.map(([place, counter]) => `${numberOf(place)}:${counter}`)
    this.#warn = warn
  }

  look(request: object): void {
    if (this.#left === 0) return
    this.#left -= 1
    const before = counted.get(request)
    if (before === undefined) {
      counted.set(request, new Set(this.#counters))
      return
    }
    if (this.#counters.some((counter) => before.has(counter))) this.#warn('TIDEGATE_COUNTED_TWICE')
    for (const counter of this.#counters) before.add(counter)
  }
}

function numberOf(place: object): number {
  const known = numbers.get(place)
  if (known !== undefined) return known
  latest += 1
  numbers.set(place, latest)
  return latest
}
