import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const GUIDES = join(import.meta.dirname, '../../../../docs/guide/gateways')

/** A file as a guide shows it: the block whose first line names it, so that what is tested is what readers copy. */
export function guideFile(guide: string, name: string): string {
  const text = readFileSync(join(GUIDES, guide), 'utf8')
  const escaped = name.replaceAll('.', String.raw`\.`)
  const [, content] = new RegExp(`^\`\`\`\\w+ ${escaped}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text) ?? []
  if (content === undefined) throw new Error(`${guide} shows no ${name}`)
  return content
}

/** A text with other ports, all changed at once. */
export function withPorts(text: string, ports: Readonly<Record<number, number>>): string {
  const known = Object.keys(ports).join('|')
  return text.replace(new RegExp(`(?<![\\d.])(${known})(?![\\d.])`, 'g'), (port) => String(ports[Number(port)]))
}
