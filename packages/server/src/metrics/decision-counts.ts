import type { Source } from 'tidegate'

/** What a rule has said of a request. */
export type Outcome = 'allowed' | 'refused' | 'shadowed'

type Count = (labels: { rule: string; outcome: Outcome; source: Source }, count: number) => void

interface Tally {
  readonly outcome: Outcome
  readonly source: Source
  count: number
}

/** Decisions by rule, outcome and source, counted on the way of every request and told with each scrape. */
export class DecisionCounts {
  // A rule has two or three tallies: a list is looked through sooner than a key is made.
  readonly #rules = new Map<string, Tally[]>()

  add(rule: string, outcome: Outcome, source: Source): void {
    let tallies = this.#rules.get(rule)
    if (tallies === undefined) {
      tallies = []
      this.#rules.set(rule, tallies)
    }
    for (const tally of tallies) {
      if (tally.outcome === outcome && tally.source === source) {
        tally.count++
        return
      }
    }
    tallies.push({ outcome, source, count: 1 })
  }

  /** Tells what has been counted since the last time. */
  flush(count: Count): void {
    for (const [rule, tallies] of this.#rules) {
      for (const tally of tallies) {
        if (tally.count > 0) count({ rule, outcome: tally.outcome, source: tally.source }, tally.count)
        tally.count = 0
      }
    }
  }
}
