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
    for (const event of missed ?? []) send(response, event)
    const end = this.#hub.listen((event) => send(response, event))
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

function send(response: ServerResponse, { id, type, data }: ServiceEvent): void {
  write(response, `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
}

function write(response: ServerResponse, text: string): void {
  if (response.writableLength > MOST_UNREAD) response.destroy()
  else response.write(text)
}
