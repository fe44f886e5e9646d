import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OutcomeWindow } from './outcome-window.ts'

test('counts what came in the last ten slices, and nothing before', () => {
  const outcome = fc.record({ pass: fc.integer({ min: 0, max: 400 }), failed: fc.boolean() })
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 200 }), (outcomes) => {
      const window = new OutcomeWindow(1000)
      const all: { slice: number; failed: boolean }[] = []
      let now = 5000
      for (const { pass, failed } of outcomes) {
        now += pass
        window.record(failed, now)
        const slice = Math.floor(now / 100)
        all.push({ slice, failed })
        const live = all.filter((one) => one.slice > slice - 10)
        expect([window.asked, window.failed]).toEqual([live.length, live.filter((one) => one.failed).length])
      }
    }),
  )
})
