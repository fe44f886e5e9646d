import { expect, test } from 'vitest'
import { measureCounterError } from './counter-error.ts'

const hundred = { limit: 100, windowMs: 1000, requests: 10_000, seed: 1 }

test('far below the limit hardly anything is decided wrongly', () => {
  const { wrongShare, meanDifference, admittedRatio } = measureCounterError({ ...hundred, load: 0.5 })
  expect(wrongShare).toBeLessThan(0.001)
  expect(meanDifference).toBeGreaterThan(0.01)
  expect(meanDifference).toBeLessThan(0.04)
  expect(admittedRatio).toBe(1)
})

test('at the limit, even traffic: some are decided wrongly, by little', () => {
  const error = measureCounterError({ ...hundred, load: 1 })
  expect(error.wronglyAdmitted).toBeGreaterThan(0)
  expect(error.wronglyRefused).toBeGreaterThan(0)
  expect(error.wrongShare).toBeLessThan(0.25)
  expect(error.meanDifference).toBeLessThan(0.05)
  expect(error.mostAdmitted).toBeLessThan(1.25)
  expect(Math.abs(error.admittedRatio - 1)).toBeLessThan(0.03)
})

test('in bursts longer than a window the error is several times as large', () => {
  const error = measureCounterError({ ...hundred, load: 2, burstWindows: 1.3 })
  expect(error.meanDifference).toBeGreaterThan(0.1)
  expect(error.meanDifference).toBeLessThan(0.25)
  expect(error.mostAdmitted).toBeGreaterThan(1.5)
  expect(error.mostAdmitted).toBeLessThan(2)
})

test('the same seed gives the same figures', () => {
  const traffic = { ...hundred, requests: 1000, load: 1.1 }
  expect(measureCounterError(traffic)).toEqual(measureCounterError(traffic))
  expect(measureCounterError(traffic)).not.toEqual(measureCounterError({ ...traffic, seed: 2 }))
})
