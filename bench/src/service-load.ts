import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, credentials } from '@grpc/grpc-js'

export const RPC_PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** A `RateLimitRequest`: `shop`, with one descriptor `user=u123456`. */
const REQUEST = Buffer.from('0a0473686f7012110a0f0a04757365721207753132333435 36'.replaceAll(' ', ''), 'hex')
/** A `RateLimitResponse`: OK, with a status and what is left. */
export const RESPONSE: Buffer = Buffer.from('0801120f0801120708c0843d10021a0018bf843d', 'hex')
/** What `POST /v1/limit` answers. */
export const DECISION = {
  allowed: true,
  limit: 1_000_000,
  used: 1,
  remaining: 999_999,
  retryAfterMs: 0,
  resetAfterMs: 60_000,
  reason: 'ok',
  source: 'store',
  rule: 'per-user',
  rules: [{ rule: 'per-user', allowed: true, limit: 1_000_000, used: 1, remaining: 999_999, resetAfterMs: 60_000 }],
  at: 1_700_000_000_000,
  version: 'constant',
  id: null,
}

/** What is sent, and how often at a time. */
export type Protocol = 'grpc' | 'http'

/** What a server has done with a load: requests for each second of time, and of the processor that it has used. */
export interface Served {
  readonly perSecond: number
  readonly perProcessorSecond: number
}

/**
 * Asks a server so often with h2load: gRPC over 8 connections with 16 calls each, HTTP over 64 connections.
 * @throws Error where an answer is none, or h2load is not installed (Debian: nghttp2-client)
 */
export async function load(
  protocol: Protocol,
  folder: string,
  port: number,
  pid: number,
  requests: number,
): Promise<Served> {
  const body = join(folder, `${protocol}.body`)
  await writeFile(body, protocol === 'grpc' ? framed(REQUEST) : '{"descriptor":{"domain":"shop","user":"u123456"}}')
  const kind =
    protocol === 'grpc'
      ? ['-c', '8', '-m', '16', '-H', 'content-type: application/grpc', '-H', 'te: trailers']
      : ['--h1', '-c', '64', '-H', 'content-type: application/json']
  const url = `http://127.0.0.1:${port}${protocol === 'grpc' ? RPC_PATH : '/v1/limit'}`
  const [before, start] = [processorSeconds(pid), performance.now()]
  const client = spawn('h2load', ['-n', String(requests), '-d', body, ...kind, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  client.stdout.on('data', (chunk) => (output += String(chunk)))
  await once(client, 'close')
  const [seconds, used] = [(performance.now() - start) / 1000, processorSeconds(pid) - before]
  if (!output.includes(`status codes: ${requests} 2xx`)) throw new Error(`not all were answered:\n${output}`)
  return { perSecond: requests / seconds, perProcessorSecond: requests / used }
}

/**
 * Asks once over gRPC: h2load sees that a call was answered, and not its status.
 * @throws Error where the status is not OK
 */
export async function checkRpc(port: number): Promise<void> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  const bytes = (given: Buffer) => given
  await new Promise<void>((resolve, reject) => {
    client.makeUnaryRequest(RPC_PATH, bytes, bytes, REQUEST, (error) => (error === null ? resolve() : reject(error)))
  })
  client.close()
}

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** Of a process of Linux, in user mode and in the kernel; in hundredths. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
