/** One line of a chart: a step at each point, or a straight line from point to point. */
export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
  readonly isStepped?: boolean
}

export interface Chart {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  readonly series: readonly Series[]
  /** A horizontal line with its name, such as the limit. */
  readonly mark?: { readonly y: number; readonly name: string }
}

const WIDTH = 760
const HEIGHT = 340
const PLOT = { left: 64, right: 744, top: 64, bottom: 286 }
/** Told apart without colour by their dashes as well (Okabe and Ito, 2008). */
const STYLES = [
  ['#0072b2', ''],
  ['#d55e00', '7 3'],
  ['#009e73', '2 2'],
] as const

/** Draws a chart as one SVG file without scripts, readable on light and dark pages. */
export function drawChart({ title, xLabel, yLabel, series, mark }: Chart): string {
  const points = series.flatMap((one) => one.points)
  const x = scale(Math.min(...points.map(([at]) => at)), Math.max(...points.map(([at]) => at)), PLOT.left, PLOT.right)
  const y = scale(0, niceTop(Math.max(mark?.y ?? 0, ...points.map(([, value]) => value))), PLOT.bottom, PLOT.top)
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}.axis{stroke:#999}' +
      '.mark{stroke:#888;stroke-dasharray:4 4}path{fill:none;stroke-width:2}' +
      '@media (prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#777}}</style>',
    `<text class="title" x="${PLOT.left}" y="22">${title}</text>`,
    ...axes(x, y, xLabel, yLabel),
    ...(mark === undefined ? [] : horizontal(y.at(mark.y), mark.name)),
    ...series.flatMap((one, i) => drawSeries(one, i, x, y)),
    '</svg>',
    '',
  ]
  return lines.join('\n')
}

interface Scale {
  readonly from: number
  readonly to: number
  at(value: number): number
}

function scale(from: number, to: number, start: number, end: number): Scale {
  return { from, to, at: (value) => round(start + ((value - from) / (to - from)) * (end - start)) }
}

function axes(x: Scale, y: Scale, xLabel: string, yLabel: string): string[] {
  const lines = [
    `<path class="axis" d="M${PLOT.left} ${PLOT.top}V${PLOT.bottom}H${PLOT.right}" style="stroke-width:1"/>`,
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${xLabel}</text>`,
    `<text x="16" y="${(PLOT.top + PLOT.bottom) / 2}" text-anchor="middle" transform="rotate(-90 16 ${(PLOT.top + PLOT.bottom) / 2})">${yLabel}</text>`,
  ]
  for (const value of ticks(x))
    lines.push(`<text x="${x.at(value)}" y="${PLOT.bottom + 18}" text-anchor="middle">${value}</text>`)
  for (const value of ticks(y))
    lines.push(`<text x="${PLOT.left - 8}" y="${y.at(value) + 4}" text-anchor="end">${value}</text>`)
  return lines
}

function horizontal(at: number, name: string): string[] {
  return [
    `<path class="mark" d="M${PLOT.left} ${at}H${PLOT.right}"/>`,
    `<text x="${PLOT.right}" y="${at - 6}" text-anchor="end">${name}</text>`,
  ]
}

function drawSeries({ name, points, isStepped = false }: Series, index: number, x: Scale, y: Scale): string[] {
  const [colour, dashes] = STYLES[index % STYLES.length] as (typeof STYLES)[number]
  const path = points.map(([at, value], i) => {
    if (i === 0) return `M${x.at(at)} ${y.at(value)}`
    return isStepped ? `H${x.at(at)}V${y.at(value)}` : `L${x.at(at)} ${y.at(value)}`
  })
  const left = PLOT.left + 220 * index
  return [
    `<path d="${path.join('')}" stroke="${colour}" stroke-dasharray="${dashes}"/>`,
    `<path d="M${left} 42h26" stroke="${colour}" stroke-dasharray="${dashes}"/>`,
    `<text x="${left + 32}" y="46">${name}</text>`,
  ]
}

/** About five round numbers. */
function ticks({ from, to }: Scale): number[] {
  const step = niceStep((to - from) / 5)
  const values: number[] = []
  for (let i = Math.ceil(from / step); i * step <= to; i++) values.push(round(i * step))
  return values
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) as number) * power
}

function niceTop(value: number): number {
  const step = niceStep(value / 5)
  return Math.ceil(value / step) * step
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
