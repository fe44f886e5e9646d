import { createHash } from 'node:crypto'
import type { Redis as UpstashRedis } from '@upstash/redis'
import type { Redis } from 'ioredis'

/** What @upstash/ratelimit asks of a client; its type leaves `eval` out, which it calls after NOSCRIPT. */
type UpstashClient = Pick<UpstashRedis, 'eval' | 'evalsha' | 'get' | 'set'>

/**
 * @upstash/ratelimit over ioredis instead of HTTP. Its scripts begin with `#!lua flags=allow-key-locking`, a flag that
 * Redis does not know and refuses: the line is left out, and each script goes by the SHA-1 of what remains.
 */
export function upstashClient(client: Redis): UpstashClient {
  const loaded = new Map<string, string>()
  const run = (sha1: string, keys: string[], words: unknown[]) => {
    return client.evalsha(sha1, keys.length, ...keys, ...(words as (string | number)[]))
  }
  const adapter = {
    evalsha: (sha1: string, keys: string[], words: unknown[]) => {
      const known = loaded.get(sha1)
      return known === undefined ? Promise.reject(new Error('NOSCRIPT not loaded yet')) : run(known, keys, words)
    },
    eval: async (script: string, keys: string[], words: unknown[]) => {
      const sha1 = String(await client.script('LOAD', script.replace(/^#!.*\n/, '')))
      loaded.set(createHash('sha1').update(script).digest('hex'), sha1)
      return run(sha1, keys, words)
    },
    get: (key: string) => client.get(key),
    set: (key: string, value: string) => client.set(key, value),
  }
  return adapter as unknown as UpstashClient
}
