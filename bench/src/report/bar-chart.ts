import { figure } from './figures.ts'
import type { BarChart } from './outcome.ts'

const WIDTH = 760
const LEFT = 230
const RIGHT = 640
const TOP = 40
const ROW = 26
const STYLE =
  'text{font:12px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}' +
  '.ours{fill:#0072b2}.peer{fill:#9aa5b1}.spread{stroke:#333;stroke-width:1.5}.axis{stroke:#999}' +
  '@media (prefers-color-scheme:dark){text{fill:#ddd}.spread{stroke:#eee}.axis{stroke:#777}}'

/** Draws one SVG file without scripts, readable on light and dark pages; the colours are of Okabe and Ito (2008). */
export function drawBars({ title, unit, bars }: BarChart): string {
  const top = Math.max(...bars.map(({ measured }) => measured.most))
  const x = (value: number) => Math.round((LEFT + (value / top) * (RIGHT - LEFT)) * 10) / 10
  const height = TOP + ROW * bars.length + 12
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${STYLE}</style>`,
    `<text class="title" x="12" y="22">${escaped(title)}</text>`,
    ...bars.flatMap(({ name, measured: { median, least, most }, isOurs }, i) => {
      const y = TOP + ROW * i
      const middle = y + 10
      return [
        `<text x="${LEFT - 10}" y="${middle + 4}" text-anchor="end">${escaped(name)}</text>`,
        `<rect class="${isOurs ? 'ours' : 'peer'}" x="${LEFT}" y="${y}" width="${(x(median) - LEFT).toFixed(1)}" height="20"/>`,
        `<path class="spread" d="M${x(least)} ${middle}H${x(most)}"/>`,
        `<text x="${x(most) + 8}" y="${middle + 4}">${figure(median)} ${unit}</text>`,
      ]
    }),
    `<path class="axis" d="M${LEFT} ${TOP - 4}V${height - 10}"/>`,
    '</svg>',
    '',
  ]
  return lines.join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
