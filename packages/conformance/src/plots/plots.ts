import { createLimiter, type LimitOptions, memoryStore } from 'tidegate'
import { type Chart, drawChart, type Series } from './chart.ts'

/** A request at a time, ms. */
type Traffic = readonly number[]

const LIMIT = 100
const WINDOW_MS = 1000

/** When each request was admitted, in virtual time. */
function admittedTimes(options: LimitOptions, traffic: Traffic): number[] {
  let now = 0
  const limiter = createLimiter({ ...options, name: 'plot', store: memoryStore({ clock: () => now }) })
  return traffic.filter((time) => {
    now = time
    return limiter.limitSync('k').allowed
  })
}

/** What was admitted in the window that ends at each time: what a sliding window bounds. */
function inTrailingWindow(times: readonly number[], from: number, to: number, every: number): [number, number][] {
  const points: [number, number][] = []
  for (let end = from; end <= to; end += every) {
    points.push([end, times.filter((time) => time > end - WINDOW_MS && time <= end).length])
  }
  return points
}

function trailing(name: string, options: LimitOptions, traffic: Traffic, from: number, to: number): Series {
  return { name, points: inTrailingWindow(admittedTimes(options, traffic), from, to, 5) }
}

/** 200 requests in the 200 ms across the edge of a second. */
const acrossTheEdge: Traffic = Array.from({ length: 200 }, (_, i) => 1900 + i)

function edgeBurst(): Chart {
  const limit = { limit: LIMIT, window: WINDOW_MS }
  return {
    title: '200 requests across the edge of a second, limit 100 a second',
    xLabel: 'time, ms',
    yLabel: 'admitted in the last second',
    mark: { y: LIMIT, name: 'limit' },
    series: [
      trailing('fixed window', { ...limit, algorithm: 'fixed-window' }, acrossTheEdge, 1800, 3200),
      trailing('sliding window', limit, acrossTheEdge, 1800, 3200),
    ],
  }
}

/** The worst for two weighted windows: all at the end of one window, then all again when half of the next has passed. */
const adversarial: Traffic = [
  ...Array.from({ length: 120 }, () => 1999),
  ...Array.from({ length: 999 }, (_, i) => 2001 + i),
]

function counterError(): Chart {
  const limit = { limit: LIMIT, window: WINDOW_MS }
  return {
    title: 'Traffic made against two weighted windows, limit 100 a second',
    xLabel: 'time, ms',
    yLabel: 'admitted in the last second',
    mark: { y: LIMIT, name: 'limit' },
    series: [
      trailing('sliding counter', { ...limit, algorithm: 'sliding-counter' }, adversarial, 1800, 3600),
      trailing('sliding window', limit, adversarial, 1800, 3600),
    ],
  }
}

/** Demand of 300 a second for four seconds. */
const overload: Traffic = Array.from({ length: 1200 }, (_, i) => 1000 + Math.floor((i * 10) / 3))

function smoothness(): Chart {
  const per100ms = (name: string, options: LimitOptions): Series => {
    const times = admittedTimes(options, overload)
    const points = Array.from({ length: 42 }, (_, i): [number, number] => {
      const from = 900 + 100 * i
      return [from, times.filter((time) => time >= from && time < from + 100).length]
    })
    return { name, points, isStepped: true }
  }
  const limit = { limit: LIMIT, window: WINDOW_MS }
  return {
    title: 'Demand of 300 a second against a limit of 100 a second',
    xLabel: 'time, ms',
    yLabel: 'admitted in 100 ms',
    series: [
      per100ms('sliding window', limit),
      per100ms('token bucket, capacity 20', { ...limit, algorithm: 'token-bucket', capacity: 20 }),
      per100ms('fixed window', { ...limit, algorithm: 'fixed-window' }),
    ],
  }
}

/** The plots of docs/algorithms: file names and contents, from runs of the library in virtual time. */
export function drawPlots(): Record<string, string> {
  return {
    'edge-burst.svg': drawChart(edgeBurst()),
    'counter-error.svg': drawChart(counterError()),
    'smoothness.svg': drawChart(smoothness()),
  }
}
