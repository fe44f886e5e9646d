import { framed } from '../rpc/messages.ts'
import type { AnswerStream, Method, QuestionListener } from '../rpc/method.ts'
import { RpcError, STATUS } from '../rpc/status.ts'
import { FieldReader, WIRE } from './wire/message-reader.ts'

/** `HealthCheckResponse.ServingStatus`. */
const SERVING = 1
const NOT_SERVING = 2
const SERVICE_UNKNOWN = 3

/** `grpc.health.v1.Health` (grpc/doc/health-checking.md): whether new work is wanted, asked by name or watched. */
export class Health {
  readonly #names: ReadonlySet<string>
  readonly #watchers = new Set<AnswerStream>()
  #status: number = SERVING

  /** @param names what it can be asked by */
  constructor(names: readonly string[]) {
    this.#names = new Set(names)
  }

  /** Says from now on that no new work is wanted, and says it to those who watch. */
  leave(): void {
    this.#status = NOT_SERVING
    for (const watcher of this.#watchers) watcher.send(messageOf(NOT_SERVING))
  }

  get methods(): [path: string, method: Method][] {
    return [
      ['/grpc.health.v1.Health/Check', { kind: 'unary', answer: async (bytes) => this.#check(bytes) }],
      ['/grpc.health.v1.Health/Watch', { kind: 'streaming', open: (call) => this.#watch(call) }],
    ]
  }

  #check(bytes: Buffer): Buffer {
    const name = readName(bytes)
    if (!this.#names.has(name)) throw new RpcError(STATUS.NOT_FOUND, 'there is no service of this name')
    return framed(messageOf(this.#status))
  }

  #watch(call: AnswerStream): QuestionListener {
    let isAsked = false
    return {
      message: (bytes) => {
        if (isAsked) throw new RpcError(STATUS.UNIMPLEMENTED, 'expected one message')
        isAsked = true
        const isKnown = this.#names.has(readName(bytes))
        // A name that is unknown may be known later, says the protocol: the call stays.
        call.send(messageOf(isKnown ? this.#status : SERVICE_UNKNOWN))
        if (isKnown) this.#watchers.add(call)
      },
      end: () => {
        if (!isAsked) throw new RpcError(STATUS.UNIMPLEMENTED, 'expected one message')
      },
      close: () => this.#watchers.delete(call),
    }
  }
}

/** A `HealthCheckResponse`. */
function messageOf(status: number): Buffer {
  return Buffer.from([8, status])
}

/** Of a `HealthCheckRequest`. */
function readName(bytes: Buffer): string {
  const reader = new FieldReader(bytes)
  let name = ''
  try {
    while (reader.next()) {
      if (reader.field === 1 && reader.wire === WIRE.BYTES) name = reader.string()
      else reader.skip()
    }
  } catch (error) {
    throw new RpcError(STATUS.INVALID_ARGUMENT, (error as Error).message)
  }
  return name
}
