import { describe, expect, it } from 'vitest'
import { targets } from './findings.ts'
import { renderFindings, renderReferences, renderReport, verdictOf } from './report.ts'

describe('the benchmark report', () => {
  it.each([
    ['memoryHot', 15, 'aim met'],
    ['memoryHot', 14.999, 'must met'],
    ['memoryHot', 7.99, '**must missed**'],
    ['latency', 1.1, 'aim met'],
    ['latency', 1.25, 'must met'],
    ['latency', 1.2501, '**must missed**'],
    ['footprint', Number.NaN, '**must missed**'],
  ] as const)('judges %s at %d: %s', (target, measured, verdict) => {
    expect(verdictOf(targets[target], measured)).toBe(verdict)
  })

  it('shows target, median, spread and verdict in one row', () => {
    const measured = { median: 2.4567, least: 2.1, most: 3 }
    const row = renderFindings([{ target: 'redisFlexible', measured }]).split('\n')[2]
    expect(row).toBe(`| ${targets.redisFlexible.what} | 2.3x | 3.5x | 2.46x | 2.1x to 3x | must met |`)
  })

  it('gives figures their unit and three digits, and no spread to what cannot vary', () => {
    const references = [
      { what: 'a', measured: { median: 5.4321, least: 5, most: 6.789 }, unit: 'M/s' },
      { what: 'b', measured: { median: 1234.5, least: 1234.5, most: 1234.5 }, unit: 'B' },
    ] as const
    expect(renderReferences(references).split('\n').slice(2)).toEqual([
      '| a | 5.43 M/s | 5 to 6.79 |',
      '| b | 1,235 B | - |',
    ])
  })

  it('refuses a template with a place that nothing fills', () => {
    const circumstances = { date: '2026-01-02', command: 'c', machine: 'm', rounds: '5' }
    const outcome = { findings: [], references: [] }
    expect(renderReport('on {{date}}', circumstances, outcome)).toBe('on 2026-01-02')
    expect(() => renderReport('{{dat}}', circumstances, outcome)).toThrow('{{dat}}')
  })
})
