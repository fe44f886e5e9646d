import type { FastifyInstance } from 'fastify'
import type { Gate } from 'tidegate'

/** How often it is looked whether a rule has been skipped for the first time. Milliseconds. */
const INTERVAL_MS = 1000

/** Warns of each rule that did not count a request because the request lacks a dimension; once, until the rule is changed. */
export function warnOfSkips(server: FastifyInstance, gate: Gate): void {
  /** For each rule the count up to which nothing more is said. */
  const told = new Map<string, number>()
  gate.onUpdate(({ removed, changed }) => {
    for (const name of removed) told.delete(name)
    // What has been skipped by the rule as it was is no news of what it is now.
    for (const { name } of changed) told.set(name, gate.skipped().get(name) ?? 0)
  })
  const look = (): void => {
    for (const [rule, count] of gate.skipped()) {
      if (count <= (told.get(rule) ?? 0)) continue
      told.set(rule, Number.POSITIVE_INFINITY)
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
