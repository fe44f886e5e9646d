import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Gate, RuleChanges } from 'tidegate'
import { warningsOf } from '../config/find-warnings.ts'
import { type Config, type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { formatProblem } from '../config/problem.ts'
import { formatWarning } from '../config/warning.ts'
import type { ForwardAuthConfig } from '../http/forward-auth-route.ts'
import type { Lifecycle } from '../http/health-routes.ts'

/** What is served, and can be served otherwise without a restart. */
export interface Served {
  readonly gate: Gate
  forwardAuth: ForwardAuthConfig
}

interface ReloadOptions {
  readonly file: string
  readonly served: Served
  readonly lifecycle: Lifecycle
  readonly logger: Logger
}

/**
 * Reads the configuration file again, and serves all of it or, where anything is wrong with it, what was served before.
 * A file that is gone or empty is wrong like any other. The log says what has changed, or everything that is wrong.
 * @returns whether what it says is served now
 */
export function reload(options: ReloadOptions): 'accepted' | 'refused' {
  const { file, lifecycle, logger } = options
  if (lifecycle.phase !== 'serving') {
    logger.warn({ config: file }, 'shutting down: the configuration file is not read again')
    return 'refused'
  }
  let loaded: ReturnType<typeof loadConfig>
  try {
    // Everything waits while a file is read: a pipe that has nothing to say now is not waited for.
    loaded = loadConfig(file, 0)
    if ('problems' in loaded) {
      const problems = loaded.problems.map((problem) => formatProblem(file, problem))
      refuse(options, { problems })
      return 'refused'
    }
    swap(options, loaded)
  } catch (error) {
    // What no line of the file can be blamed for. Whatever it is, it must not end a service that serves.
    refuse(options, { problems: [`${file}: ${(error as Error).message}`], err: error })
    return 'refused'
  }
  logWarnings(file, loaded, logger)
  return 'accepted'
}

function swap({ file, served, logger }: ReloadOptions, { config }: LoadedConfig): void {
  const changes = served.gate.update(config.rules)
  const settings = settingsBetween(served.forwardAuth, config)
  served.forwardAuth = { headers: config.headers, denyStatus: config.denyStatus }
  logger.info({ config: file, ...changes, settings }, messageOf(changes, settings))
}

function refuse({ file, served, logger }: ReloadOptions, why: object): void {
  const { version } = served.gate
  logger.error({ config: file, ...why, version }, 'the configuration file is refused; what was served before still is')
}

/** Logs what a file without errors may not mean. */
export function logWarnings(file: string, { config, document }: LoadedConfig, logger: Logger): void {
  const warnings = warningsOf(config, document).map((warning) => formatWarning(file, warning))
  if (warnings.length > 0) logger.warn({ config: file, warnings }, 'the configuration file may not say what is meant')
}

/** The fields besides the rules that differ. */
function settingsBetween(before: ForwardAuthConfig, after: Config): string[] {
  return [
    ...(isDeepStrictEqual(before.headers, after.headers) ? [] : ['forwardAuth.headers']),
    ...(before.denyStatus === after.denyStatus ? [] : ['denyStatus']),
  ]
}

function messageOf({ added, removed, changed }: RuleChanges, settings: readonly string[]): string {
  const counts = Object.entries({ added, removed, changed }).filter(([, names]) => names.length > 0)
  const parts = [...counts.map(([what, names]) => `${names.length} ${what}`), ...settings]
  return `the configuration file was read again: ${parts.join(', ') || 'no rule or setting has changed'}`
}
