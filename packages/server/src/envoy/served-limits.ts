import type { Logger } from 'pino'
import { type Limits, type LoadOptions, limitsIn, loadLimits } from './limits.ts'
import { fingerprintOf } from './list-files.ts'

/** How often it is looked whether the files have changed. Milliseconds. */
const INTERVAL_MS = 1000

/**
 * The limits of a folder as they are served: read again when a file has changed, by whatever name it is reached. Where
 * anything is wrong with the new files, what was served before still is.
 */
export class ServedLimits {
  #limits: Limits
  #fingerprint: string
  readonly #path: string
  readonly #options: LoadOptions
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout

  readonly #told: (result: 'accepted' | 'refused', version: string) => void

  /** @param told called after each time that the files were read again, with the version that is served then */
  constructor(
    path: string,
    options: LoadOptions,
    limits: Limits,
    logger: Logger,
    told: (result: 'accepted' | 'refused', version: string) => void = () => undefined,
  ) {
    this.#told = told
    this.#path = path
    this.#options = options
    this.#limits = limits
    this.#logger = logger
    this.#fingerprint = fingerprint(path)
    // Looked at, not told: a folder of Kubernetes changes by a link far from the files.
    this.#timer = setInterval(() => this.look(), INTERVAL_MS).unref()
  }

  get now(): Limits {
    return this.#limits
  }

  /** Reads the files again, if they have changed. */
  look(): void {
    const found = fingerprint(this.#path)
    if (found === this.#fingerprint) return
    this.#fingerprint = found
    this.read()
  }

  /** Reads the files again. */
  read(): void {
    const loaded = loadLimits(this.#path, this.#options)
    const path = this.#path
    if ('problems' in loaded) {
      this.#told('refused', this.#limits.version)
      const { problems } = loaded
      this.#logger.error({ path, problems }, 'the rate limit files are refused; what was served before still is')
      return
    }
    this.#limits = loaded.limits
    this.#told('accepted', loaded.limits.version)
    const { version } = loaded.limits
    this.#logger.info({ path, version, limits: limitsIn(loaded.limits).length }, 'the rate limit files were read again')
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** A folder that cannot be read has one of its own. */
function fingerprint(path: string): string {
  try {
    return fingerprintOf(path)
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}
