/** How long an answer is waited for. Milliseconds. */
const PATIENCE_MS = 5_000

/** So many messages wait at most for somebody who takes them. */
const MOST_EARLY = 100

interface Message {
  readonly tidegate: string
  readonly id?: number
  readonly value?: unknown
  readonly error?: string
}

/** Does what the other side asks for; what it gives, or resolves to, is the answer. */
type Handler = (value: unknown) => unknown

/** Two processes that tell and ask each other by name, over the messages of node:cluster. */
export class Channel {
  readonly #send: (message: Message) => void
  readonly #handlers = new Map<string, Handler>()
  readonly #asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  /** What has come before somebody takes it. */
  #early: Message[] = []
  #last = 0

  constructor(send: (message: object) => void) {
    this.#send = send
  }

  handle(name: string, handler: Handler): void {
    this.#handlers.set(name, handler)
    const early = this.#early
    this.#early = []
    for (const message of early) this.receive(message)
  }

  tell(name: string, value?: unknown): void {
    this.#send({ tidegate: name, value })
  }

  /** @throws Error where the other side has failed, or has not answered in time */
  ask(name: string, value?: unknown, patienceMs = PATIENCE_MS): Promise<unknown> {
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(new Error(`${name}: no answer`))), patienceMs)
      const settle = (how: () => void): void => {
        clearTimeout(timer)
        this.#asked.delete(id)
        how()
      }
      this.#asked.set(id, {
        resolve: (answer) => settle(() => resolve(answer)),
        reject: (error) => settle(() => reject(error)),
      })
      this.#send({ tidegate: name, id, value })
    })
  }

  /** Takes what has arrived, and keeps it for whoever comes to handle it; what is not of this kind is passed by. */
  receive(message: unknown): void {
    const { tidegate: name, id, value, error } = (message ?? {}) as Partial<Message>
    if (name === undefined) return
    if (name === ANSWER) {
      const asked = this.#asked.get(id as number)
      if (error === undefined) asked?.resolve(value)
      else asked?.reject(new Error(error))
      return
    }
    const handler = this.#handlers.get(name)
    if (handler !== undefined) void this.#answer(handler, id, value)
    else if (this.#early.length < MOST_EARLY) this.#early.push(message as Message)
  }

  /** The other side is gone: nobody waits for it any more. */
  close(): void {
    for (const { reject } of [...this.#asked.values()]) reject(new Error('the process is gone'))
  }

  async #answer(handler: Handler, id: number | undefined, value: unknown): Promise<void> {
    try {
      const answer = await handler(value)
      if (id !== undefined) this.#send({ tidegate: ANSWER, id, value: answer })
    } catch (error) {
      if (id !== undefined) this.#send({ tidegate: ANSWER, id, error: (error as Error).message })
    }
  }
}

const ANSWER = 'answer'
