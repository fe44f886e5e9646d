import { describe, expect, it } from 'vitest'
import { GROUPS, readOptions } from './plan.ts'
import { requestsOf, users } from './requests.ts'
import { best, ratio, spread } from './rounds.ts'

describe('the arguments of the benchmark', () => {
  it('measures all groups by default, and only then is a run a full one', () => {
    expect(readOptions([])).toMatchObject({ groups: GROUPS, full: true, plan: { rounds: 5 } })
    expect(readOptions(['--rounds', '9'])).toMatchObject({ groups: GROUPS, full: true, plan: { rounds: 9 } })
    expect(readOptions(['--quick'])).toMatchObject({ groups: GROUPS, full: false, plan: { rounds: 1 } })
    expect(readOptions(['--only', 'redis,memory'])).toMatchObject({ groups: ['redis', 'memory'], full: false })
    expect(readOptions(['--quick', '--rounds', '2']).plan).toMatchObject({ rounds: 2 })
  })

  it.each([
    [['--fast'], '--fast'],
    [['--only'], '--only'],
    [['--only', 'redis,nosuch'], '--only redis,nosuch'],
    [['--rounds', '0'], '--rounds 0'],
    [['--rounds', '1.5'], '--rounds 1.5'],
    [['--rounds'], '--rounds'],
  ])('names what it does not know: %s', (args, named) => {
    expect(() => readOptions(args)).toThrow(named)
  })
})

describe('rounds', () => {
  it('asks for the same requests in the same order in every run', () => {
    const keys = users(1000)
    const requests = requestsOf(keys, 10_000)
    expect(requestsOf(keys, 10_000)).toEqual(requests)
    expect(new Set(requests).size).toBe(1000)
    expect(requests.slice(0, 5)).not.toEqual(keys.slice(0, 5))
  })

  it('compares within each round, and takes the median of what that gives', () => {
    const [ours, theirs] = [
      { name: 'ours', values: [10, 40, 90] },
      { name: 'theirs', values: [5, 10, 30] },
    ]
    expect(ratio(ours, theirs)).toEqual({ median: 3, least: 2, most: 4 })
    expect(spread([4, 1, 3, 2])).toEqual({ median: 2.5, least: 1, most: 4 })
    expect([best([ours, theirs], 'higher').name, best([ours, theirs], 'lower').name]).toEqual(['ours', 'theirs'])
  })
})
