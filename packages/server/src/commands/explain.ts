import { createGate, type Descriptor, explain as explainRules, type Gate } from 'tidegate'
import { redisKey } from 'tidegate/redis'
import { keyOf, shardKey } from 'tidegate/store'
import { loadConfig } from '../config/load-config.ts'
import { formatProblem } from '../config/problem.ts'
import { settings } from '../settings/settings.ts'
import { type Flags, readArguments, refusal } from './arguments.ts'
import { type Answers, answersOf } from './explain-answers.ts'
import { type Explained, explanationText, type Report } from './explain-text.ts'

export const explainFlags = {
  config: { type: 'string', usage: '--config FILE', doc: 'The rules; as serve takes them.' },
  cost: { type: 'string', usage: '--cost N', doc: 'What the request would cost; default: 1.' },
  redis: {
    type: 'string',
    usage: '--redis URL',
    doc: 'Also the Redis keys, and what would be decided now by their counts.',
  },
  server: { type: 'string', usage: '--server URL', doc: 'Also what a running service would decide now.' },
  json: { type: 'boolean', usage: '--json', doc: 'One JSON object, for programs.' },
} as const satisfies Flags

/**
 * Explains what becomes of one request; counts nothing.
 * @returns the exit code: 0; 1 where the rules, the request or the answer could not be had; 2 where it would be refused now
 */
export async function explain(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { positionals, flags } = readArguments('explain', args, explainFlags)
  const descriptor = descriptorOf(positionals)
  const cost = costOf(flags.get('cost') ?? '1')
  const file = flags.get('config') ?? (environment[settings.config.environment] || settings.config.default)
  const loaded = loadConfig(file)
  if ('problems' in loaded) {
    for (const problem of loaded.problems) process.stderr.write(`${formatProblem(file, problem)}\n`)
    return 1
  }
  const answers: Answers = { redis: flags.get('redis'), server: flags.get('server'), rules: loaded.config.rules }
  const gate = createGate({ rules: loaded.config.rules })
  const rules = explained(gate, descriptor, answers.redis !== undefined)
  const decision = await answersOf(answers, descriptor, cost)
  const report: Report = { version: gate.version, rules, ...(decision && { decision }) }
  process.stdout.write(flags.has('json') ? `${JSON.stringify(report, null, 2)}\n` : explanationText(report, gate.rules))
  return decision?.allowed === false ? 2 : 0
}

function explained(gate: Gate, descriptor: Descriptor, withKeys: boolean): Explained[] {
  return explainRules(gate.rules, descriptor).map((explanation, i) => {
    const rule = gate.rules[i]
    if (!withKeys || !explanation.applies || explanation.limit === null || rule === undefined) return explanation
    const key = keyOf(rule, descriptor)
    if (key === undefined) return explanation
    return { ...explanation, redisKey: redisKey(rule, rule.shards === 1 ? key : shardKey(key, 0)) }
  })
}

function descriptorOf([text, ...others]: readonly string[]): Descriptor {
  const expected = 'expected one request as JSON, such as \'{"route":"/order","user":"u1"}\''
  if (text === undefined || others.length > 0) throw refusal('explain', expected)
  try {
    return JSON.parse(text) as Descriptor
  } catch {
    throw refusal('explain', `${expected}; this is no JSON`)
  }
}

function costOf(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 32) return Number(text)
  throw refusal('explain', `--cost: expected a whole number from 0 to 4,294,967,295, received ${JSON.stringify(text)}`)
}
