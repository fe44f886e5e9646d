import type { Setting } from './setting.ts'
import { settings } from './settings.ts'

const table: readonly Setting<unknown>[] = Object.values(settings)

/** The settings as lines of `--help`. */
export function settingsHelp(): string {
  const heads = table.map(({ flag, placeholder }) => `${flag} ${placeholder}`)
  const width = Math.max(...heads.map((head) => head.length))
  return table
    .map((setting, i) => {
      const indent = ' '.repeat(width + 4)
      const origin = `${setting.environment}; default: ${defaultOf(setting)}`
      return `  ${(heads[i] as string).padEnd(width)}  ${setting.doc}\n${indent}${origin}`
    })
    .join('\n')
}

/** The settings as the table of docs/reference/service.md. */
export function settingsMarkdown(): string {
  const rows = table.map((setting) => {
    const { flag, placeholder, environment, doc } = setting
    return `| \`${flag} ${placeholder}\` | \`${environment}\` | ${defaultOf(setting)} | ${doc} |`
  })
  return ['| flag | environment | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

function defaultOf(setting: Setting<unknown>): string {
  return setting.defaultDoc ?? setting.default
}
