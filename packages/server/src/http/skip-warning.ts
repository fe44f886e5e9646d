import type { FastifyInstance } from 'fastify'
import type { Gate } from 'tidegate'

/** How often it is looked whether a rule has been skipped for the first time. Milliseconds. */
const INTERVAL_MS = 1000

/** Warns of each rule that did not count a request because the request lacks a dimension; once, until the rule is changed. */
export function warnOfSkips(server: FastifyInstance, gate: Gate): void {
  const warned = new Set<string>()
  gate.onUpdate(({ removed, changed }) => {
    for (const name of [...removed, ...changed.map((rule) => rule.name)]) warned.delete(name)
  })
  const look = (): void => {
    for (const rule of gate.skipped().keys()) {
      if (warned.has(rule)) continue
      warned.add(rule)
      const key = gate.rules.find(({ name }) => name === rule)?.key
      server.log.warn({ rule, key }, `a request was not counted by rule ${rule}: it lacks a dimension of its key`)
    }
  }
  // On a timer, and not on the way of every decision.
  const timer = setInterval(look, INTERVAL_MS).unref()
  server.addHook('onClose', async () => {
    clearInterval(timer)
    look()
  })
}
