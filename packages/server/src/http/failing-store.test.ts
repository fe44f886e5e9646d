import { type ErrorCode, TidegateError } from 'tidegate'
import { describe, expect, test } from 'vitest'
import { failingStore } from '../testing/failing-store.ts'
import { listeningService } from '../testing/listening-service.ts'

const rules = [{ name: 'per-user', key: ['user'], limit: 3, window: '1m' }]

describe('a store that fails', () => {
  const failures: [code: ErrorCode, status: number, retryAfter: string | null][] = [
    ['ERR_STORE_UNAVAILABLE', 503, '1'],
    ['ERR_STORE_OVERLOADED', 503, '1'],
    ['ERR_STATE_WRONG_TYPE', 409, null],
    ['ERR_STATE_UNREADABLE', 409, null],
    ['ERR_CLIENT_UNSUPPORTED', 500, null],
    ['ERR_INVALID_CLOCK', 500, null],
  ]
  test.each(failures)('%s is %i', async (code, status, retryAfter) => {
    const store = failingStore(new TidegateError(code, 'Redis: no', { field: 'client', expected: 'another' }))
    const failing = await listeningService({ rules, store })
    const response = await failing.post('/v1/limit', { descriptor: { user: 'u' } })
    const json = await response.json()
    await failing.close()
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter])
    // No field of the request is at fault, except that a state is stored under its descriptor.
    const place = status === 409 ? { field: 'descriptor', expected: expect.any(String) } : {}
    expect(json).toEqual({
      type: 'about:blank',
      title: expect.any(String),
      status,
      code,
      detail: 'Redis: no',
      ...place,
    })
    expect(failing.log.some(({ level }) => level === 50)).toBe(status === 500)
  })

  test('in a way nobody foresaw is 500 without a word of it, and the log has it', async () => {
    const store = failingStore(new Error('secret detail'))
    const failing = await listeningService({ rules, store })
    const response = await failing.post('/v1/limit', { descriptor: { user: 'u' } })
    const text = await response.text()
    await failing.close()
    expect([response.status, text.includes('secret')]).toEqual([500, false])
    expect(JSON.stringify(failing.log)).toContain('secret detail')
  })
})
