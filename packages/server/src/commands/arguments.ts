import { parseArgs } from 'node:util'
import { ServiceError } from '../errors.ts'

/** The flags of a command, without their dashes. */
export type Flags = Readonly<
  Record<string, { readonly type: 'boolean' | 'string'; readonly usage: string; readonly doc: string }>
>

/** What a command was called with besides its name. */
export interface Arguments {
  readonly positionals: readonly string[]
  /** The flags that stand there, without their dashes; the value of one without a value is ''. */
  readonly flags: ReadonlyMap<string, string>
}

/**
 * Reads the arguments of a command.
 * @throws ServiceError `ERR_INVALID_SETTING`
 */
export function readArguments(command: string, args: string[], known: Flags): Arguments {
  const options = Object.fromEntries(Object.entries(known).map(([name, { type }]) => [name, { type }]))
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true, allowPositionals: true })
  const positionals: string[] = []
  const flags = new Map<string, string>()
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value } = token
    const type = rawName.startsWith('--') && Object.hasOwn(known, name) ? known[name]?.type : undefined
    if (type === undefined) throw refusal(command, `${rawName}: there is no such flag, expected ${listed(known)}`)
    if (flags.has(name)) throw refusal(command, `${rawName} stands there twice`)
    if (type === 'string' && !value) throw refusal(command, `${rawName}: expected a value`)
    if (type === 'boolean' && value !== undefined) throw refusal(command, `${rawName} takes no value`)
    flags.set(name, value ?? '')
  }
  return { positionals, flags }
}

/** The error for arguments that a command cannot be called with. */
export function refusal(command: string, message: string): ServiceError {
  return new ServiceError('ERR_INVALID_SETTING', `${command}: ${message}`)
}

function listed(known: Flags): string {
  return Object.keys(known)
    .map((name) => `--${name}`)
    .join(', ')
}
