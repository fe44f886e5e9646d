import { STORE_PATH, type WireAnswer, type WireResponse } from './wire.ts'

/** What is needed of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ExchangeSettings {
  readonly fetch: Fetch
  readonly token: string | undefined
  /** How long an answer is waited for, ms. */
  readonly timeoutMs: number
}

/** A batch that a service has not answered as it should. */
export class ExchangeFailure extends Error {
  /** Whether it is sure that none of it was done. */
  readonly isUndone: boolean
  /** Whether it says something about the service, and not only about what was asked. */
  readonly isOfService: boolean

  constructor(
    message: string,
    { isUndone, isOfService = true, cause }: { isUndone: boolean; isOfService?: boolean; cause?: unknown },
  ) {
    super(message, { cause })
    this.isUndone = isUndone
    this.isOfService = isOfService
  }
}

/**
 * Sends one batch, once.
 * @returns as many answers as there were operations
 * @throws ExchangeFailure
 */
export async function exchange(
  url: string,
  body: string,
  count: number,
  { fetch, token, timeoutMs }: ExchangeSettings,
): Promise<readonly WireAnswer[]> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), timeoutMs)
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  try {
    // What a redirect leads to must not get the token.
    const init: RequestInit = { method: 'POST', headers, body, redirect: 'manual', signal: abort.signal }
    const response = await fetch(url + STORE_PATH, init)
    const text = await response.text()
    if (response.status !== 200) throw refusal(url, response.status, text)
    return answersOf(url, text, count)
  } catch (error) {
    if (error instanceof ExchangeFailure) throw error
    const reason = abort.signal.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error)
    throw new ExchangeFailure(`${url}: ${reason}`, { isUndone: isUnsent(error), cause: error })
  } finally {
    clearTimeout(timer)
  }
}

function answersOf(url: string, text: string, count: number): readonly WireAnswer[] {
  const { answers } = (parse(text) ?? {}) as Partial<WireResponse>
  if (Array.isArray(answers) && answers.length === count) return answers as WireAnswer[]
  throw new ExchangeFailure(`${url}: its answer is none of a Tidegate service`, { isUndone: false })
}

/** Codes of a 503 that was given before anything was looked at. */
const UNDONE = ['ERR_DRAINING', 'ERR_OVERLOADED']

function refusal(url: string, status: number, text: string): ExchangeFailure {
  const { code, detail } = (parse(text) ?? {}) as { code?: unknown; detail?: unknown }
  const message = `${url}: ${status}${typeof code === 'string' ? ` ${code}` : ''}${typeof detail === 'string' ? `: ${detail}` : ''}`
  // Between here and there can be a gateway, whose 5xx says nothing of what the service has done.
  const isUndone = status < 500 || (typeof code === 'string' && UNDONE.includes(code))
  return new ExchangeFailure(message, { isUndone, isOfService: status !== 400 && status !== 413 })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What Node says where there was no connection that anything could have been sent over. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

function isUnsent(error: unknown): boolean {
  return UNSENT.has(codeOf(error))
}

function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  if (typeof code === 'string') return code
  return cause === undefined ? '' : codeOf(cause)
}

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code !== '') return code
  return error instanceof Error ? error.message : typeof error
}
