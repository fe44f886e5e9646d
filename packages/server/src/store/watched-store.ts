import type { Logger } from 'pino'
import { type Store, TidegateError } from 'tidegate'
import { failureLog, type Operation } from './failure-log.ts'

/** A store of Redis, whose failures are logged and told in words that need no knowledge of its client. */
export function watchedStore(store: Store, logger: Logger): Store {
  const failures = failureLog(logger)
  async function watched<Value>(operation: Operation, ask: () => Promise<Value>): Promise<Value> {
    try {
      const value = await ask()
      failures.succeeded(operation)
      return value
    } catch (error) {
      const told = retold(error)
      failures.failed(operation, told)
      throw told
    }
  }
  return {
    clock: store.clock,
    cluster: store.cluster === true,
    atomicity: (checks) => store.atomicity?.(checks) ?? 'strict',
    ...(store.decideNow && { decideNow: store.decideNow.bind(store) }),
    ...(store.sourceOf && { sourceOf: store.sourceOf.bind(store) }),
    decide: (checks, mode, until) => watched('decide', () => store.decide(checks, mode, until)),
    reserve: (checks, expiresInMs, until) => watched('reserve', () => store.reserve(checks, expiresInMs, until)),
    settle: (rule, key, id, cost) => watched('settle', () => store.settle(rule, key, id, cost)),
    refund: (rule, key, cost, of) => watched('refund', () => store.refund(rule, key, cost, of)),
    renew: (rule, key, id) => watched('renew', () => store.renew(rule, key, id)),
    entries: (rule, key) => watched('entries', () => store.entries(rule, key)),
    block: (rule, key, durationMs) => watched('block', () => store.block(rule, key, durationMs)),
    unblock: (rule, key) => watched('unblock', () => store.unblock(rule, key)),
    reset: (rule, key) => watched('reset', () => store.reset(rule, key)),
    ...(store.heartbeat && { heartbeat: store.heartbeat.bind(store) }),
    ...(store.inspect && { inspect: store.inspect.bind(store) }),
    ping: () => watched('ping', () => store.ping()),
    close: async () => {
      failures.close()
      await store.close()
    },
  }
}

/** What ioredis says where there is no connection that could take a command. */
const NOT_CONNECTED = /^Redis: (?:Stream isn't writeable|Connection is closed)/

export const notConnected = 'Redis: not connected'

function retold(error: unknown): unknown {
  if (!(error instanceof TidegateError) || !NOT_CONNECTED.test(error.message)) return error
  return new TidegateError(error.code, notConnected, { cause: error })
}
