import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { Client, credentials, type Metadata, status } from '@grpc/grpc-js'
import { generate } from 'selfsigned'
import { memoryStore, type Store } from 'tidegate'
import { afterEach, describe, expect, test } from 'vitest'
import { GrpcClient } from '../testing/grpc-client.ts'
import { type GrpcService, grpcService } from '../testing/grpc-service.ts'
import { until } from '../testing/program.ts'
import { RateLimitService } from './generated/envoy/service/ratelimit/v3/rls_pb.ts'

const ask = RateLimitService.method.shouldRateLimit
const request = { domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: 'u1' }] }] }
const rules = [{ name: 'per-user', key: ['user'], limit: 1, window: '1m' }]

let service: GrpcService | undefined
afterEach(() => service?.close())

function health(address: string, name: string): Promise<string | number> {
  const client = new Client(address, credentials.createInsecure())
  // grpc.health.v1: a string in field 1 asks, an enum in field 1 answers.
  const question = Buffer.concat([Buffer.from([10, name.length]), Buffer.from(name)])
  return new Promise((resolve) => {
    client.makeUnaryRequest<Buffer, Buffer>(
      '/grpc.health.v1.Health/Check',
      (bytes) => bytes,
      (bytes) => bytes,
      question,
      (error, answer) => {
        client.close()
        resolve(error?.code ?? (answer?.[1] as number))
      },
    )
  })
}

const [SERVING, NOT_SERVING, SERVICE_UNKNOWN] = [1, 2, 3]

test('health: serving by every name, until it leaves', async () => {
  service = await grpcService({ rules })
  const names = ['', 'ratelimit', 'envoy.service.ratelimit.v3.RateLimitService', 'envoy.service.auth.v3.Authorization']
  for (const name of names) expect(await health(service.address, name)).toBe(SERVING)
  expect(await health(service.address, 'other')).toBe(status.NOT_FOUND)
  service.server.leave()
  for (const name of names) expect(await health(service.address, name)).toBe(NOT_SERVING)
})

test('reflection tells the services, and the file of each', async () => {
  service = await grpcService({ rules })
  const listed = await reflect(service.address, 58, '')
  expect(listed).toContain('envoy.service.ratelimit.v3.RateLimitService')
  expect(listed).toContain('envoy.service.auth.v3.Authorization')
  expect(listed).toContain('grpc.health.v1.Health')
  expect(await reflect(service.address, 34, 'envoy.service.auth.v3.Authorization')).toContain('AttributeContext')
  expect(await reflect(service.address, 34, 'envoy.type.v3.StatusCode')).toContain('TooManyRequests')
  expect(await reflect(service.address, 26, 'envoy/service/ratelimit/v3/rls.proto')).toContain('ShouldRateLimit')
  expect(await reflect(service.address, 34, 'other.Service')).toContain('there is no symbol other.Service')
})

/** One question of grpc.reflection.v1, by the tag of its field; the bytes of the answer as text. */
function reflect(address: string, tag: number, text: string): Promise<string> {
  const client = new Client(address, credentials.createInsecure())
  const call = client.makeBidiStreamRequest<Buffer, Buffer>(
    '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    (bytes) => bytes,
    (bytes) => bytes,
  )
  return new Promise((resolve, reject) => {
    call.on('data', (bytes: Buffer) => {
      resolve(bytes.toString('latin1'))
      call.end()
      client.close()
    })
    call.on('error', reject)
    call.write(Buffer.concat([Buffer.from([tag, text.length]), Buffer.from(text)]))
  })
}

test('a method that does not exist is said to be so', async () => {
  service = await grpcService({ rules })
  const client = new Client(service.address, credentials.createInsecure())
  const code = await new Promise((resolve) => {
    client.makeUnaryRequest<Buffer, Buffer>(
      '/envoy.service.ratelimit.v3.RateLimitService/Other',
      (bytes) => bytes,
      (bytes) => bytes,
      Buffer.alloc(0),
      (error) => resolve(error?.code),
    )
  })
  client.close()
  expect(code).toBe(status.UNIMPLEMENTED)
})

test('bytes that are no message are an error of that call alone', async () => {
  service = await grpcService({ rules })
  const client = new Client(service.address, credentials.createInsecure())
  const code = await new Promise((resolve) => {
    client.makeUnaryRequest<Buffer, Buffer>(
      '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
      (bytes) => bytes,
      (bytes) => bytes,
      Buffer.from([0x0a, 0xff, 0xff]),
      (error) => resolve(error?.code),
    )
  })
  client.close()
  expect([status.INVALID_ARGUMENT, status.INTERNAL]).toContain(code)
  expect(await service.client.call(ask, request)).toMatchObject({ overallCode: 1 })
})

test('a message that is too large is refused, and others are served', async () => {
  service = await grpcService({ rules })
  const large = { domain: 'x'.repeat(2_000_000), descriptors: request.descriptors }
  await expect(service.client.call(ask, large)).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED })
  expect(await service.client.call(ask, request)).toMatchObject({ overallCode: 1 })
})

test('bytes that are not HTTP/2 end their connection, and no other', async () => {
  service = await grpcService({ rules })
  const [host, port] = service.address.split(':')
  const socket = connect(Number(port), host)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100))
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  expect(await service.client.call(ask, request)).toMatchObject({ overallCode: 1 })
})

test('a call in flight is finished while the server closes; new ones are refused', async () => {
  const store = memoryStore()
  let asked = (): void => undefined
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  let answer = (): void => undefined
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve
  })
  const decide: Store['decide'] = async (checks, mode) => {
    asked()
    await mayAnswer
    return store.decide(checks, mode)
  }
  service = await grpcService({ rules, store: Object.assign(Object.create(store) as Store, { decide }) })
  const pending = service.client.call(ask, request)
  await isAsked
  const closed = service.server.close(5000)
  await expect(service.client.call(ask, request, 500)).rejects.toThrow()
  answer()
  await expect(pending).resolves.toMatchObject({ overallCode: 1 })
  await closed
})

test('more calls at a time than may be are refused at once, with when to come again; health is not', async () => {
  const store = memoryStore()
  let answer = (): void => undefined
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve
  })
  const decide: Store['decide'] = async (checks, mode) => {
    await mayAnswer
    return store.decide(checks, mode)
  }
  const slow = Object.assign(Object.create(store) as Store, { decide })
  service = await grpcService({ rules, store: slow, maxConcurrent: 2 })
  const { client, address } = service
  const first = [client.call(ask, request), client.call(ask, { ...request, domain: 'other' })]
  const refused = await client.call(ask, request).catch((error: unknown) => error)
  expect(refused).toMatchObject({
    code: status.UNAVAILABLE,
    details: 'ERR_OVERLOADED: 2 calls are under way already',
  })
  expect((refused as { metadata: Metadata }).metadata.get('grpc-retry-pushback-ms')).toEqual(['1000'])
  expect(await health(address, '')).toBe(SERVING)
  answer()
  await Promise.all(first)
  expect(await client.call(ask, request)).toMatchObject({ overallCode: 2 })
})

test('health that is watched: what it is, and what it becomes; a name that there is not is unknown', async () => {
  service = await grpcService({ rules })
  const client = new Client(service.address, credentials.createInsecure())
  const watch = (name: string) => {
    const question = Buffer.concat([Buffer.from([10, name.length]), Buffer.from(name)])
    const bytes = (given: Buffer) => given
    const call = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', bytes, bytes, question)
    const told: number[] = []
    call.on('data', (answer: Buffer) => told.push(answer[1] as number))
    const ended = new Promise<number>((resolve) => call.once('error', ({ code }: { code: number }) => resolve(code)))
    return { told, ended }
  }
  const [known, unknown] = [watch('ratelimit'), watch('other')]
  await until(() => known.told.length === 1 && unknown.told.length === 1)
  service.server.leave()
  await until(() => known.told.length === 2)
  expect([known.told, unknown.told]).toEqual([[SERVING, NOT_SERVING], [SERVICE_UNKNOWN]])
  await service.server.close(5000)
  expect([await known.ended, await unknown.ended]).toEqual([status.UNAVAILABLE, status.UNAVAILABLE])
  client.close()
})

test('a connection that is old enough is asked to go, and its client is served over another', async () => {
  service = await grpcService({ rules, connections: { maxAgeMs: 100, maxAgeGraceMs: 1000 } })
  const session = connectHttp2(`http://${service.address}`)
  await new Promise<void>((resolve) => session.once('goaway', () => resolve()))
  await new Promise<void>((resolve) => session.once('close', resolve))
  expect(await service.client.call(ask, request)).toMatchObject({ overallCode: 1 })
})

describe('TLS', () => {
  const strong = { keyType: 'ec', algorithm: 'sha256' } as const

  async function authority(name: string) {
    return generate([{ name: 'commonName', value: name }], {
      ...strong,
      extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
    })
  }

  async function signed(name: string, by: { private: string; cert: string }) {
    const made = await generate([{ name: 'commonName', value: name }], {
      ...strong,
      ca: { key: by.private, cert: by.cert },
    })
    return { key: Buffer.from(made.private), cert: Buffer.from(made.cert) }
  }

  test('mutual: clients of the authority are served, others and those without a certificate are not', async () => {
    const [ours, others] = [await authority('ours'), await authority('others')]
    const own = await signed('localhost', ours)
    service = await grpcService({ rules, tls: { ...own, ca: Buffer.from(ours.cert) } })
    const root = Buffer.from(ours.cert)
    const address = service.address.replace('127.0.0.1', 'localhost')
    const attempt = async (by: { key: Buffer; cert: Buffer } | undefined) => {
      const client = new GrpcClient(address, credentials.createSsl(root, by?.key ?? null, by?.cert ?? null))
      try {
        return (await client.call(ask, request, 3000)).overallCode
      } catch (error) {
        return (error as { code: number }).code
      } finally {
        client.close()
      }
    }
    expect(await attempt(await signed('envoy', ours))).toBe(1)
    expect([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]).toContain(await attempt(await signed('envoy', others)))
    expect([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]).toContain(await attempt(undefined))
  })
})
