import { parseArgs } from 'node:util'
import { ServiceError } from '../errors.ts'
import { translateEnvironment } from './envoy-environment.ts'
import type { Setting } from './setting.ts'
import { type SettingName, type Settings, settings } from './settings.ts'

const table = Object.entries(settings) as [SettingName, Setting<unknown>][]

/**
 * The settings of the command line; where that says nothing, of the environment; else the defaults.
 * An environment variable that is empty counts as not set.
 * Other variables that begin with TIDEGATE_ are refused. An environment made for envoyproxy/ratelimit is understood.
 * @throws ServiceError `ERR_INVALID_SETTING`, naming the flag or the variable
 */
export function readSettings(args: string[], environment: NodeJS.ProcessEnv): Settings {
  const flags = readFlags(args)
  refuseUnknownVariables(environment)
  const translated = translateEnvironment(environment)
  const values = table.map(([name, setting]) => {
    const flag = flags.get(setting.flag)
    if (flag !== undefined) return [name, readValue(setting, setting.flag, flag)]
    const variable = translated.environment[setting.environment] || undefined
    const origin = translated.origins.get(setting.environment) ?? setting.environment
    if (variable !== undefined) return [name, readValue(setting, origin, variable)]
    return [name, setting.read(setting.default)]
  })
  return Object.fromEntries(values) as Settings
}

function readValue(setting: Setting<unknown>, source: string, text: string): unknown {
  const value = text === '' ? undefined : setting.read(text)
  if (value !== undefined) return value
  const reason = setting.reason?.(text)
  // What may hold a secret is not repeated.
  const received = setting.flag === '--admin-tokens' ? 'received another' : `received ${JSON.stringify(text)}`
  throw refusal(source, setting.expected, reason === undefined ? received : `${received}: ${reason}`)
}

function readFlags(args: string[]): Map<string, string> {
  const options = Object.fromEntries(table.map(([, { flag }]) => [flag.slice(2), { type: 'string' as const }]))
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true, allowPositionals: true })
  const flags = new Map<string, string>()
  for (const token of tokens) {
    if (token.kind === 'positional') throw refusal(token.value, 'flags only', 'this is none')
    if (token.kind === 'option-terminator') continue
    const setting = table.find(([, { flag }]) => flag === token.rawName)?.[1]
    if (setting === undefined) throw refusal(token.rawName, `one of ${knownFlags()}`, 'there is no such flag')
    if (flags.has(setting.flag)) throw refusal(setting.flag, 'the flag once', 'it stands there twice')
    if (token.value === undefined) throw refusal(setting.flag, setting.expected, 'received nothing')
    flags.set(setting.flag, token.value)
  }
  return flags
}

/** What a mistyped name would say is not ignored. */
function refuseUnknownVariables(environment: NodeJS.ProcessEnv): void {
  const known: readonly string[] = [...table.map(([, setting]) => setting.environment), ...otherVariables]
  for (const [name, value = ''] of Object.entries(environment)) {
    if (!name.startsWith('TIDEGATE_') || value === '' || known.includes(name) || isOfKubernetes(name, value)) continue
    const names = table.map(([, setting]) => setting.environment).join(', ')
    throw refusal(name, `one of ${names}`, 'there is no such variable')
  }
}

/** Variables of this project that are no settings: for its tests, which must not skip what cannot run. */
const otherVariables = ['TIDEGATE_REQUIRE_PARTS']

/** Kubernetes gives every container variables for each service; one called `tidegate` has them begin with TIDEGATE_. */
function isOfKubernetes(name: string, value: string): boolean {
  if (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value)) return true
  return /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name)
}

function knownFlags(): string {
  return table.map(([, { flag }]) => flag).join(', ')
}

function refusal(field: string, expected: string, found: string): ServiceError {
  return new ServiceError('ERR_INVALID_SETTING', `${field}: expected ${expected}; ${found}`, { field, expected })
}
