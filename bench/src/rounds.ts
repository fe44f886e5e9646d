/** One of those compared: `measure` does a fixed amount of work and returns a figure, such as decisions per second. */
export interface Contestant {
  readonly name: string
  readonly measure: () => number | Promise<number>
}

/** The figures of one contestant, one for each round that counts. */
export interface Series {
  readonly name: string
  readonly values: readonly number[]
}

/** A median with what it was taken from. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/**
 * Measures the contestants in turn, A B C A B C, so that a slow minute of the machine falls on all of
 * them. The first round warms up and is dropped.
 */
export async function interleave(contestants: readonly Contestant[], rounds: number): Promise<Series[]> {
  const values: number[][] = contestants.map(() => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      collectGarbage()
      const value = await contestant.measure()
      if (round > 0) values[i]?.push(value)
    }
  }
  return contestants.map(({ name }, i) => ({ name, values: values[i] ?? [] }))
}

/** The median of the ratios of each round: rounds differ more than contestants within one do. */
export function ratio(series: Series, reference: Series): Spread {
  return spread(series.values.map((value, round) => value / (reference.values[round] ?? Number.NaN)))
}

/** The one with the best median. */
export function best(all: readonly Series[], better: 'higher' | 'lower'): Series {
  const sign = better === 'higher' ? -1 : 1
  const [first] = all.toSorted((a, b) => sign * (spread(a.values).median - spread(b.values).median))
  if (first === undefined) throw new Error('expected at least one series to choose from')
  return first
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = (sorted.length - 1) / 2
  return { median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, least: at(0), most: at(sorted.length - 1) }
}

/** Of what is the same in every round. */
export function exactly(value: number): Spread {
  return { median: value, least: value, most: value }
}

/** Nobody should pay for the garbage of whoever ran before; main.ts exposes the collector. */
function collectGarbage(): void {
  const { gc } = globalThis as { gc?: () => void }
  gc?.()
}
