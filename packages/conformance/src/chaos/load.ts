import { setTimeout as sleep } from 'node:timers/promises'
import type { Decision } from 'tidegate'

/** What a load has seen. */
export interface LoadReport {
  asked: number
  /** Admitted and refused requests, by where that was decided. */
  admitted: Record<string, number>
  refused: Record<string, number>
  /** Requests that ended in an error. */
  errors: unknown[]
  /** The wait of one request in a thousand is at least so long, ms; and the longest. */
  p999: number
  longest: number
}

export interface Load {
  /** What has been seen since the load began, or since the last `cut`. */
  readonly report: LoadReport
  /** The same, and begins a new report. */
  cut(): LoadReport
  end(): Promise<LoadReport>
}

/** Asks without pause, several at a time, until told to end. */
export function startLoad(ask: () => Promise<Decision>, workers = 8): Load {
  let report = fresh()
  let waits: number[] = []
  let isEnded = false
  const work = async () => {
    while (!isEnded) {
      const started = performance.now()
      try {
        const { allowed, source } = await ask()
        const where = allowed ? report.admitted : report.refused
        where[source] = (where[source] ?? 0) + 1
      } catch (error) {
        report.errors.push(error)
      }
      report.asked++
      waits.push(performance.now() - started)
      await sleep(1)
    }
  }
  const working = Array.from({ length: workers }, work)
  const cut = () => {
    const sorted = waits.sort((a, b) => a - b)
    const done = { ...report, p999: quantile(sorted, 0.999), longest: sorted.at(-1) ?? 0 }
    report = fresh()
    waits = []
    return done
  }
  return {
    get report() {
      return report
    },
    cut,
    end: async () => {
      isEnded = true
      await Promise.all(working)
      return cut()
    },
  }
}

function fresh(): LoadReport {
  return { asked: 0, admitted: {}, refused: {}, errors: [], p999: 0, longest: 0 }
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Counts of several reports together. */
export function sum(reports: readonly Record<string, number>[], name: string): number {
  return reports.reduce((total, report) => total + (report[name] ?? 0), 0)
}
