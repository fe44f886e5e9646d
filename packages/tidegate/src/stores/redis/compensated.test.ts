import { describe, expect, test } from 'vitest'
import { heldBefore } from '../../decision.ts'
import { createGate } from '../../gate.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Check } from '../store.ts'
import { decideCompensated, type SlotStore } from './compensated.ts'
import type { ScriptMode } from './pending.ts'

const { rules } = createGate({
  rules: [
    { name: 'a', key: ['user'], limit: 2, window: 1000 },
    { name: 'b', key: ['site'], limit: 2, window: 1000 },
    { name: 'c', key: ['user'], limit: 3, window: 1000 },
  ],
})

/** The first and the third check share a slot. */
function sharesOf(checks: readonly Check[]) {
  const [a, b, c] = checks as [Check, Check, Check]
  return [
    { checks: [a, c], places: [0, 2] },
    { checks: [b], places: [1] },
  ]
}

function inShadow(checks: readonly Check[], place: number): Check[] {
  return checks.map((check, i) => (i === place ? { ...check, rule: { ...check.rule, shadow: true } } : check))
}

/** Two slots, each a memory store, of which `between` can take something between the asking and the charging. */
function slots(between: (phase: number, store: SlotStore) => Promise<void> = async () => undefined) {
  const memory = memoryStore({ clock: () => 5000 })
  const calls: string[] = []
  let phase = 0
  const uncharged = async (checks: readonly Check[], mode: 'consume' | 'peek') => {
    const figures = memory.decideSync(checks, 'peek')
    if (mode === 'consume') return figures
    return figures.map((one, i) =>
      one.allowed ? (memory.decideSync([{ ...(checks[i] as Check), cost: 0 }], 'peek')[0] as never) : one,
    )
  }
  const store: SlotStore = {
    decide: async (checks, mode: ScriptMode) => {
      calls.push(`${mode} ${checks.map(({ rule }) => rule.name).join(' ')}`)
      if (mode === 'consume') {
        await between(++phase, store)
        return memory.decideSync(checks, 'consume')
      }
      return mode === 'peek' ? memory.decideSync(checks, 'peek') : uncharged(checks, 'peek')
    },
    giveBack: (check, of) => {
      calls.push(`refund ${check.rule.name}`)
      return memory.refund(check.rule, check.key, check.cost, of)
    },
  }
  const checks = (cost: number): Check[] => rules.map((rule) => ({ rule, key: 'k', cost }))
  const used = () => rules.map((rule) => memory.decideOneSync(rule, 'k', 0, 'peek').used)
  return { store, calls, checks, used, memory }
}

describe('a request whose checks lie in several slots', () => {
  test('is charged in all of them, and answered in the order of the rules', async () => {
    const { store, checks, used } = slots()
    const figures = await decideCompensated(checks(1), sharesOf(checks(1)), 'consume', store)
    expect(figures).toMatchObject([
      { rule: 'a', used: 1 },
      { rule: 'b', used: 1 },
      { rule: 'c', used: 1 },
    ])
    expect(used()).toEqual([1, 1, 1])
  })

  test('that one of them refuses is charged in none, not even for a moment', async () => {
    const { store, checks, used, calls, memory } = slots()
    memory.decideOneSync(rules[1] as never, 'k', 2, 'consume')
    const figures = await decideCompensated(checks(1), sharesOf(checks(1)), 'consume', store)
    expect(figures).toMatchObject([
      { allowed: true, used: 0 },
      { allowed: false, used: 2 },
      { allowed: true, used: 0 },
    ])
    expect(used()).toEqual([0, 2, 0])
    expect(calls).toEqual(['probe a c', 'probe b'])
  })

  // The kind of fault: somebody comes in between, and a refused request stays charged, or its charge is taken twice.
  test('that is refused at the second asking is given back by the slots that had charged it', async () => {
    const { store, checks, used, memory } = slots(async (phase) => {
      if (phase === 2) memory.decideOneSync(rules[1] as never, 'k', 2, 'consume')
    })
    const figures = await decideCompensated(checks(1), sharesOf(checks(1)), 'consume', store)
    expect(figures).toMatchObject([
      { allowed: true, used: 0 },
      { allowed: false, used: 2 },
      { allowed: true, used: 0 },
    ])
    expect(used()).toEqual([0, 2, 0])
  })

  // The kind of fault: what the same id had reserved before is given back by an attempt that was charged nothing for it.
  test('gives back nothing of what it held before', async () => {
    const { store, checks, calls, memory } = slots(async (phase) => {
      if (phase === 2) memory.decideOneSync(rules[1] as never, 'k', 2, 'consume')
    })
    const holding: SlotStore = {
      ...store,
      decide: async (share, mode) => {
        const figures = await store.decide(share, mode)
        return figures.map((one) => (one.rule === 'a' ? heldBefore(one) : one))
      },
    }
    await decideCompensated(checks(1), sharesOf(checks(1)), 'consume', holding)
    expect(calls.filter((call) => call.startsWith('refund'))).toEqual(['refund c'])
  })

  test('that fails in one slot is given back by the others, and the failure is told', async () => {
    const { store, checks, used } = slots(async (phase) => {
      if (phase === 2) throw new Error('gone')
    })
    await expect(decideCompensated(checks(1), sharesOf(checks(1)), 'consume', store)).rejects.toThrow('gone')
    expect(used()).toEqual([0, 0, 0])
  })

  test('a peek tells what a charge would, and charges nothing', async () => {
    const { store, checks, used, memory } = slots()
    expect(await decideCompensated(checks(1), sharesOf(checks(1)), 'peek', store)).toMatchObject([
      { used: 1 },
      { used: 1 },
      { used: 1 },
    ])
    memory.decideOneSync(rules[0] as never, 'k', 2, 'consume')
    expect(await decideCompensated(checks(1), sharesOf(checks(1)), 'peek', store)).toMatchObject([
      { allowed: false, used: 2 },
      { allowed: true, used: 0 },
      { allowed: true, used: 0 },
    ])
    expect(used()).toEqual([2, 0, 0])
  })

  // The kind of fault: a rule that is only watched refuses, is charged what it refused, or is given back what it never had.
  test('that a check in shadow would refuse is charged in all others', async () => {
    const { store, checks, used, memory } = slots()
    memory.decideOneSync(rules[1] as never, 'k', 2, 'consume')
    const watched = inShadow(checks(1), 1)
    const figures = await decideCompensated(watched, sharesOf(watched), 'consume', store)
    expect(figures).toMatchObject([
      { allowed: true, used: 1 },
      { allowed: false, used: 2 },
      { allowed: true, used: 1 },
    ])
    expect(used()).toEqual([1, 2, 1])
  })

  test('that is refused at the second asking gives back nothing for a check in shadow that was not charged', async () => {
    const { store, checks, used, calls, memory } = slots(async (phase) => {
      if (phase === 2) memory.decideOneSync(rules[1] as never, 'k', 2, 'consume')
    })
    memory.decideOneSync(rules[0] as never, 'k', 2, 'consume')
    const watched = inShadow(checks(1), 0)
    await decideCompensated(watched, sharesOf(watched), 'consume', store)
    expect(used()).toEqual([2, 2, 0])
    expect(calls.filter((call) => call.startsWith('refund'))).toEqual(['refund c'])
  })

  test('a cost of 0 asks and writes nothing', async () => {
    const { store, checks, calls } = slots()
    await decideCompensated(checks(0), sharesOf(checks(0)), 'consume', store)
    expect(calls.filter((call) => call.startsWith('consume'))).toEqual([])
  })
})
