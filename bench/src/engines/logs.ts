import AsyncRateLimiter from 'async-ratelimiter'
import { RedisRateLimiter } from 'rolling-rate-limiter'
import { read } from '../reading.ts'
import type { Engine } from './engine.ts'
import { ZSET_SCRIPT } from './zset-script.ts'

/** A ZSET a key, in MULTI. It counts what it refuses, too. */
const rolling: Engine = {
  name: 'rolling-rate-limiter',
  counts: 'exact',
  open: (client, { limit, seconds }) => {
    const limiter = new RedisRateLimiter({
      client,
      namespace: 'rolling:',
      interval: seconds * 1000,
      maxInInterval: limit,
    })
    return async (key) => {
      const { blocked, actionsRemaining, millisecondsUntilAllowed } = await limiter.limitWithInfo(key)
      read(!blocked, actionsRemaining, millisecondsUntilAllowed)
      return !blocked
    }
  },
}

/** A ZSET a key, in a script; the time, in fractions of a millisecond, is all that a member is. */
const asyncRatelimiter: Engine = {
  name: 'async-ratelimiter',
  counts: 'exact',
  open: (client, { limit, seconds }) => {
    const limiter = new AsyncRateLimiter({ db: client, max: limit, duration: seconds * 1000 })
    return async (key) => {
      // What remains is before this request: 0 is a refusal.
      const { remaining, reset } = await limiter.get({ id: key })
      read(remaining > 0, remaining, reset * 1000 - Date.now())
      return remaining > 0
    }
  },
}

/** The script that most write-ups show: no library, and the form that every log in Redis is compared with. */
const zsetScript: Engine = {
  name: 'ZSET script',
  counts: 'exact',
  open: async (client, { limit, seconds }) => {
    const sha1 = String(await client.script('LOAD', ZSET_SCRIPT))
    let requests = 0
    return async (key) => {
      const id = String(++requests).padStart(6, '0')
      const reply = await client.evalsha(sha1, 1, `zset:${key}`, limit, seconds * 1000, id, '')
      const [allowed, used, wait] = reply as [number, number, number]
      read(allowed === 1, limit - used, wait)
      return allowed === 1
    }
  },
}

export const logs = { rolling, asyncRatelimiter, zsetScript }
