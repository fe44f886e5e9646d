import { status } from '@grpc/grpc-js'
import { memoryStore, type Store, TidegateError } from 'tidegate'
import { afterEach, expect, test } from 'vitest'
import { answer, of } from '../testing/ask-limits.ts'
import { type GrpcService, grpcService } from '../testing/grpc-service.ts'

const [OK, OVER] = [1, 2]

let service: GrpcService | undefined
afterEach(() => service?.close())

async function serving(...args: Parameters<typeof grpcService>): Promise<GrpcService> {
  service = await grpcService(...args)
  return service
}

const MODES = `
domain: shop
descriptors:
  - key: shadow
    shadow_mode: true
    rate_limit: { unit: minute, requests_per_unit: 1 }
  - key: free
    rate_limit: { unlimited: true }
  - key: first
    quota_mode: true
    rate_limit: { unit: minute, requests_per_unit: 1 }
  - key: second
    quota_mode: true
    rate_limit: { unit: minute, requests_per_unit: 2 }
  - key: strict
    rate_limit: { unit: minute, requests_per_unit: 1 }
  - key: special
    rate_limit: { unit: minute, requests_per_unit: 3, name: special, replaces: [{ name: usual }] }
  - key: usual
    rate_limit: { unit: minute, requests_per_unit: 1, name: usual }
`

test('a shadow counts and passes; what is unlimited has all that there is left', async () => {
  const running = await serving({ config: MODES })
  const both = [of('shadow=1'), of('free=1')]
  for (const _ of [1, 2]) expect(await answer(running, both)).toEqual([OK, [OK, 0, 40], [OK, 2 ** 32 - 1]])
})

test('quotas: the request passes as long as one of them has something left', async () => {
  const running = await serving({ config: MODES })
  const both = [of('first=1'), of('second=1')]
  expect(await answer(running, both)).toEqual([OK, [OK, 0, 40], [OK, 1, 40]])
  expect(await answer(running, both)).toEqual([OK, [OVER, 0, 40], [OK, 0, 40]])
  expect(await answer(running, both)).toEqual([OVER, [OVER, 0, 40], [OVER, 0, 40]])
})

test('a quota is not charged for what another limit refuses', async () => {
  const running = await serving({ config: MODES })
  await answer(running, [of('strict=1')])
  expect((await answer(running, [of('strict=1'), of('second=1')]))[0]).toBe(OVER)
  expect(await answer(running, [of('second=1')])).toEqual([OK, [OK, 1, 40]])
})

test('a quota is not charged for what ends with an error of the store', async () => {
  const store = memoryStore({ clock: () => 1_700_000_000_000 })
  let isBroken = true
  const decide: Store['decide'] = async (checks, mode) => {
    if (isBroken && checks.some(({ rule }) => rule.name === 'shop.strict')) {
      throw new TidegateError('ERR_STORE_UNAVAILABLE', 'gone')
    }
    return store.decide(checks, mode)
  }
  const failing = { ...boundTo(store), decide }
  const running = await serving({ config: MODES, store: failing })
  await expect(answer(running, [of('strict=1'), of('second=1')])).rejects.toMatchObject({ code: status.UNAVAILABLE })
  isBroken = false
  expect(await answer(running, [of('second=1')])).toEqual([OK, [OK, 1, 40]])
})

/** A store's methods as those of an object of their own. */
function boundTo(store: Store): Store {
  const { clock } = store
  return {
    clock,
    decide: store.decide.bind(store),
    reserve: store.reserve.bind(store),
    settle: store.settle.bind(store),
    refund: store.refund.bind(store),
    renew: store.renew.bind(store),
    entries: store.entries.bind(store),
    block: store.block.bind(store),
    unblock: store.unblock.bind(store),
    reset: store.reset.bind(store),
    ping: store.ping.bind(store),
    close: store.close.bind(store),
  }
}

test('a limit that another replaces does not count', async () => {
  const running = await serving({ config: MODES })
  const both = [of('usual=1'), of('special=1')]
  for (const remaining of [2, 1, 0]) expect(await answer(running, both)).toEqual([OK, [OK, 0], [OK, remaining, 40]])
  expect((await answer(running, both))[0]).toBe(OVER)
  expect(await answer(running, [of('usual=1')])).toEqual([OK, [OK, 0, 40]])
})

test('in global shadow mode everything passes, and the statuses say what would have been', async () => {
  const running = await serving({ config: MODES, settings: { shadowMode: true } })
  await answer(running, [of('strict=1')])
  expect(await answer(running, [of('strict=1')])).toEqual([OK, [OVER, 0, 40]])
})

test('in global quota mode all limits are quotas', async () => {
  const running = await serving({ config: MODES, settings: { quotaMode: true } })
  await answer(running, [of('strict=1')])
  expect(await answer(running, [of('strict=1'), of('usual=1')])).toEqual([OK, [OVER, 0, 40], [OK, 0, 40]])
  expect((await answer(running, [of('strict=1'), of('usual=1')]))[0]).toBe(OVER)
})
