import 'reflect-metadata'
import {
  Controller,
  Get,
  HttpException,
  type INestApplication,
  Injectable,
  Module,
  type ModuleMetadata,
  type Type,
  UseGuards,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import {
  Limit,
  RateLimitException,
  RateLimitGuard,
  RateLimitModule,
  type RateLimitOptions,
  SkipLimit,
} from 'tidegate/nestjs'
import { afterEach, describe, expect, test } from 'vitest'
import { Client } from './client.ts'
import { decorate } from './nestjs.ts'

let app: INestApplication
let client: Client
afterEach(async () => {
  client?.close()
  await app?.close()
})

/** A controller with routes of these names, each decorated. */
function controllerOf(path: string, routes: Record<string, MethodDecorator[]>, ...decorators: ClassDecorator[]): Type {
  const made = { [path]: class {} }[path] as Type
  for (const [name, own] of Object.entries(routes)) {
    const route = { [name]: () => name }[name] as () => string
    Object.defineProperty(made.prototype, name, { value: route, configurable: true, writable: true })
    decorate(made.prototype, name, Get(name), ...(own as Parameters<typeof decorate>[2][]))
  }
  for (const one of [Controller(path), ...decorators]) one(made)
  return made
}

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const)('NestJS on %s', (_name, adapter) => {
  async function serve(imports: ModuleMetadata['imports'], ...controllers: Type[]): Promise<void> {
    class App {}
    Module({ imports: imports ?? [], controllers })(App)
    app = await NestFactory.create(App, adapter(), { logger: false, abortOnError: false, forceCloseConnections: true })
    await app.listen(0, '127.0.0.1')
    client = new Client((app.getHttpServer().address() as { port: number }).port)
  }
  async function statuses(...paths: string[]): Promise<number[]> {
    const answers: number[] = []
    for (const path of paths) answers.push((await client.ask(path)).status)
    return answers
  }
  const hour = (limit: number): RateLimitOptions => ({ limit, window: '1h' })

  test('limits the application, a controller and a route in one step', async () => {
    const orders = controllerOf(
      'orders',
      { list: [], make: [Limit({ limit: 1, window: '1m' })] },
      Limit({ limit: 2, window: '1m' }),
    )
    await serve([RateLimitModule.forRoot(hour(3))], orders, controllerOf('other', { look: [] }))
    const first = await client.ask('/orders/make')
    expect(first.headers['ratelimit']).toBe('"http";r=2;t=3600, "controller";r=1;t=60, "route";r=0;t=60')
    const second = await client.ask('/orders/make')
    expect(JSON.parse(second.body)).toMatchObject({ 'violated-policies': ['route'] })
    expect(await statuses('/orders/list', '/orders/list', '/other/look', '/other/look')).toEqual([200, 429, 200, 429])
  })

  test('takes several limits on one route', async () => {
    const limits = Limit({ limit: 5, window: '1m' }, { name: 'daily', limit: 1, window: '1d' })
    await serve([RateLimitModule.forRoot()], controllerOf('a', { b: [limits], free: [] }))
    expect((await client.ask('/a/b')).headers['ratelimit']).toMatch(/^"route";r=4;t=60, "daily";r=0;t=86400$/)
    expect(await statuses('/a/b', '/a/free', '/a/free')).toEqual([429, 200, 200])
  })

  test('skips a controller, and not the route of it that says so', async () => {
    const skipped = controllerOf('skipped', { free: [], limited: [SkipLimit(false)] }, SkipLimit())
    await serve([RateLimitModule.forRoot(hour(1))], skipped, controllerOf('a', { free: [SkipLimit()] }))
    const paths = ['/skipped/free', '/skipped/free', '/a/free', '/a/free', '/skipped/limited', '/skipped/limited']
    expect(await statuses(...paths)).toEqual([200, 200, 200, 200, 200, 429])
  })

  test('guards what says so where it does not guard everything', async () => {
    const guarded = controllerOf('guarded', { look: [] }, UseGuards(RateLimitGuard))
    await serve([RateLimitModule.forRoot({ ...hour(1), global: false })], guarded, controllerOf('free', { look: [] }))
    expect(await statuses('/guarded/look', '/guarded/look', '/free/look', '/free/look')).toEqual([200, 429, 200, 200])
  })

  test('takes its options from what the container has', async () => {
    class Settings {
      readonly limit = 1
      createRateLimitOptions(): RateLimitOptions {
        return hour(this.limit)
      }
    }
    Injectable()(Settings)
    class SettingsModule {}
    Module({ providers: [Settings], exports: [Settings] })(SettingsModule)
    const imports = [SettingsModule]
    const forms = [
      RateLimitModule.forRootAsync({
        imports,
        inject: [Settings],
        useFactory: async ({ limit }: Settings) => hour(limit),
      }),
      RateLimitModule.forRootAsync({ imports, useExisting: Settings }),
      RateLimitModule.forRootAsync({ useClass: Settings }),
    ]
    for (const form of forms) {
      await serve([form], controllerOf('a', { b: [] }))
      expect(await statuses('/a/b', '/a/b')).toEqual([200, 429])
      client.close()
      await app.close()
    }
  })

  test('ends a refused request with an exception of its own, or with yours', async () => {
    const handler: RateLimitOptions['handler'] = (_context, { status }) => new HttpException('slow down', status)
    await serve([RateLimitModule.forRoot({ ...hour(0), handler })], controllerOf('a', { b: [] }))
    expect(JSON.parse((await client.ask('/a/b')).body)).toEqual({ statusCode: 429, message: 'slow down' })
    const refusal = { status: 429, problem: {} }
    expect(new RateLimitException(refusal as never)).toBeInstanceOf(HttpException)
  })

  test('refuses mistakes when the application is made', async () => {
    await expect(
      serve([RateLimitModule.forRoot({ limit: -1, window: 1 })], controllerOf('a', { b: [] })),
    ).rejects.toThrow(/^limit: expected/)
  })
})
