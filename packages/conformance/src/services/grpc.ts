import { connect } from 'node:http2'

/** An answer of gRPC, with as much of it as tests look at. */
export interface GrpcAnswer {
  /** Of gRPC; undefined where the call was cut. */
  readonly status: number | undefined
  readonly message: string
  /** The bytes of the message. */
  readonly body: Buffer
}

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** One call over a connection of its own, with bytes for its message and headers as they are. */
export function callGrpc(port: number, message: Buffer, headers: Record<string, string> = {}): Promise<GrpcAnswer> {
  return new Promise((resolve) => {
    const session = connect(`http://127.0.0.1:${port}`)
    const chunks: Buffer[] = []
    let ended: Record<string, unknown> = {}
    const finish = () => {
      session.destroy()
      const status = ended['grpc-status'] === undefined ? undefined : Number(ended['grpc-status'])
      const text = decodeURIComponent(String(ended['grpc-message'] ?? ''))
      resolve({ status, message: text, body: Buffer.concat(chunks).subarray(5) })
    }
    session.on('error', finish)
    session.on('close', finish)
    const stream = session.request({
      ...{ ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', te: 'trailers' },
      ...headers,
    })
    stream.on('response', (received) => {
      if (received['grpc-status'] !== undefined) ended = received
    })
    stream.on('trailers', (received) => {
      ended = received
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', finish)
    stream.on('close', finish)
    const prefix = Buffer.alloc(5)
    prefix.writeUInt32BE(message.length, 1)
    stream.end(Buffer.concat([prefix, message]))
  })
}

/** A RateLimitRequest of the domain `d` with so many descriptors `a=b`. */
export function requestOf(descriptors: number): Buffer {
  const entry = Buffer.from([0x0a, 6, 0x0a, 1, 0x61, 0x12, 1, 0x62])
  const one = Buffer.concat([Buffer.from([0x12, entry.length]), entry])
  return Buffer.concat([Buffer.from([0x0a, 1, 0x64]), ...Array.from({ length: descriptors }, () => one)])
}
