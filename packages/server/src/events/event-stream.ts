import type { ServerResponse } from 'node:http'
import type { EventHub } from './event-hub.ts'
import type { ServiceEvent } from './service-event.ts'

/** How often a stream without events shows that it lives. Milliseconds. */
const HEARTBEAT_MS = 15_000
/** A reader that has left so many bytes unread is let go: it comes again by itself, and gets what it has missed. */
const MOST_UNREAD = 262_144

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // nginx would keep it back until there is enough.
  'x-accel-buffering': 'no',
}

/** Streams of server-sent events (WHATWG HTML, 9.2), one for each reader. */
export class EventStreams {
  readonly #hub: EventHub
  readonly #open = new Set<ServerResponse>()
  #heartbeat: NodeJS.Timeout | undefined

  constructor(hub: EventHub) {
    this.#hub = hub
  }

  get size(): number {
    return this.#open.size
  }

  /** @param lastId the id of the last event that the reader has had; of no reader that comes for the first time */
  open(response: ServerResponse, lastId: string | undefined): void {
    response.writeHead(200, HEADERS)
    response.write('retry: 2000\n\n')
    const missed = lastId === undefined ? [] : this.#hub.since(lastId)
    if (missed === undefined) response.write('event: gap\ndata: {}\n\n')
    // Bounded by what is kept; how fast it is read shows with the next event.
    for (const event of missed ?? []) response.write(textOf(event))
    const backlog = response.writableLength
    const end = this.#hub.listen((event) => write(response, textOf(event), backlog))
    this.#open.add(response)
    this.#heartbeat ??= setInterval(() => this.#beat(), HEARTBEAT_MS).unref()
    response.once('close', () => {
      end()
      this.#open.delete(response)
      if (this.#open.size > 0) return
      clearInterval(this.#heartbeat)
      this.#heartbeat = undefined
    })
  }

  /** Ends all of them. */
  close(): void {
    for (const response of this.#open) response.end()
  }

  #beat(): void {
    for (const response of this.#open) write(response, ': alive\n\n')
  }
}

function textOf({ id, type, data }: ServiceEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

/** @param backlog what it was sent at once when it came, bytes: it has time for that */
function write(response: ServerResponse, text: string, backlog = 0): void {
  if (response.writableLength > MOST_UNREAD + backlog) response.destroy()
  else response.write(text)
}
