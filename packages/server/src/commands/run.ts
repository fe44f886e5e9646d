import { readFileSync } from 'node:fs'
import { TidegateError } from 'tidegate'
import { ServiceError } from '../errors.ts'
import { settingsHelp } from '../settings/describe-settings.ts'
import type { Flags } from './arguments.ts'

/** One command: its row of the help, and what it does. */
export interface Command {
  readonly usage: string
  readonly doc: string
  /** Resolves to the exit code. */
  readonly run: (args: string[], environment: NodeJS.ProcessEnv) => number | Promise<number>
}

const commands: Readonly<Record<string, Command>> = {
  serve: {
    usage: 'serve [flags]',
    doc: 'Answers requests over HTTP and gRPC until SIGTERM or SIGINT.',
    // Each is loaded when it is asked for: none needs what the others do.
    run: async (...given) => (await import('./serve.ts')).serve(...given),
  },
  validate: {
    usage: 'validate FILE',
    doc: 'Checks a file of rules; lists what is wrong, or may not be meant, as file:line:column.',
    run: async (args) => (await import('./validate.ts')).validate(args),
  },
  explain: {
    usage: 'explain REQUEST',
    doc: 'Says which rules count a request, and why the others do not.',
    run: async (...given) => (await import('./explain.ts')).explain(...given),
  },
}

/**
 * Runs what the command line asks for.
 * @returns the exit code: 0, 1 where something was wrong, which then stands on stderr, or what the command says besides
 */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) return print(await help())
  if (args[0] === '--version') return print(version())
  const [name = '', ...rest] = args
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) return complain(`${name || 'no command'}: expected ${listed(Object.keys(commands))}`)
  try {
    return await command.run(rest, environment)
  } catch (error) {
    if (error instanceof ServiceError || error instanceof TidegateError) return complain(error.message)
    throw error
  }
}

async function help(): Promise<string> {
  const [{ validateFlags }, { explainFlags }] = await Promise.all([import('./validate.ts'), import('./explain.ts')])
  const rows = Object.values(commands).map(({ usage, doc }) => `  tidegate ${usage.padEnd(15)}  ${doc}`)
  return [
    'Usage:',
    ...rows,
    '  tidegate --help | --version',
    '',
    'Flags of serve:',
    settingsHelp(),
    '',
    ...flagsOf('validate', validateFlags),
    '',
    ...flagsOf('explain', explainFlags),
  ].join('\n')
}

function flagsOf(command: string, flags: Flags): string[] {
  return [`Flags of ${command}:`, ...Object.values(flags).map(({ usage, doc }) => `  ${usage.padEnd(15)}  ${doc}`)]
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

function complain(message: string): number {
  process.stderr.write(`tidegate: ${message}\nSee tidegate --help.\n`)
  return 1
}
