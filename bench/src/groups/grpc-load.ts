import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const SESSIONS = 4
const STREAMS = 16

/** A RateLimitRequest of one descriptor with one entry, as gRPC sends it. */
export function rateLimitRequest(domain: string, key: string, value: string): Buffer {
  const descriptor = field(1, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))]))
  const message = Buffer.concat([field(1, Buffer.from(domain)), field(2, descriptor)])
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** A field of bytes, all of them shorter than 128. */
function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
}

/**
 * Asks ShouldRateLimit for so many seconds, over a few connections with some requests on their way on each, going round
 * `messages`.
 * @returns how many requests were answered
 * @throws Error where the status of an answer is not OK
 */
export async function askGrpc(port: number, seconds: number, messages: readonly Buffer[]): Promise<number> {
  let asked = 0
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => open(port)))
  const until = performance.now() + seconds * 1000
  const work = async (session: ClientHttp2Session) => {
    while (performance.now() < until) await call(session, messages[asked++ % messages.length] as Buffer)
  }
  await Promise.all(sessions.flatMap((session) => Array.from({ length: STREAMS }, () => work(session))))
  for (const session of sessions) session.destroy()
  return asked
}

async function open(port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`)
  await once(session, 'connect')
  return session
}

function call(session: ClientHttp2Session, message: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const head = { ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', te: 'trailers' }
    const stream = session.request(head)
    let status: unknown
    const note = (headers: Record<string, unknown>) => {
      status = headers['grpc-status'] ?? status
    }
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('error', reject)
    stream.on('close', () => (String(status) === '0' ? resolve() : reject(new Error(`grpc-status ${status}`))))
    stream.resume()
    stream.end(message)
  })
}
