import type { Redis } from 'ioredis'
import type { Gate } from 'tidegate'
import { expect } from 'vitest'

/** Puts something else in the place of a state. */
export type PutForeign = (key: string) => Promise<unknown>

/**
 * What cannot be read is an error for its request alone: neighbours of the same call are served, the other rule of the
 * request is not charged, and what stands there stays as it is until the key is reset.
 *
 * @param gate its rules are `user`, by user, and `site`, over all
 * @param others what else is asked of the key of the user `bad`, and must fail in the same way
 */
export async function expectAlone(
  client: Redis,
  gate: Gate,
  put: PutForeign,
  code: string,
  others: (descriptor: { user: string }) => Promise<unknown>[] = () => [],
): Promise<void> {
  const bad = { user: 'bad' }
  const key = `tg:{bad}:${gate.rules[0]?.id}`
  await put(key)
  const before = await client.dumpBuffer(key)
  const answers = await Promise.allSettled([
    gate.limit({ user: 'a' }),
    gate.limit(bad),
    gate.limit(bad, { cost: 2 }),
    gate.limit({ user: 'b' }),
    gate.limit({}),
  ])
  const failed = { status: 'rejected', reason: { code } }
  const served = { status: 'fulfilled' }
  expect(answers).toMatchObject([served, failed, failed, served, served])
  // The site's rule was not charged for the requests that failed.
  expect(answers[4]).toMatchObject({ value: { rule: 'site', used: 3 } })
  for (const other of others(bad)) await expect(other).rejects.toMatchObject({ code })
  expect(await client.dumpBuffer(key)).toEqual(before)
  await gate.reset(bad)
  expect(await gate.limit(bad)).toMatchObject({ allowed: true })
}
