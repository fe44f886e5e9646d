import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exactly } from '../rounds.ts'
import { drawBars } from './bar-chart.ts'
import { tableOf } from './figures.ts'
import type { Outcome } from './outcome.ts'
import { fillReadme } from './readme.ts'
import { renderReport, renderTables, renderTargets } from './report.ts'
import { shareOfAim, type TargetName, targetOf, targets, verdictOf } from './targets.ts'

const ROOT = join(import.meta.dirname, '../../..')
const TEMPLATE = readFileSync(join(ROOT, 'bench/benchmarks.template.md'), 'utf8')
const circumstances = { date: '2026-01-02', command: 'c', machine: 'm', rounds: '5', minutes: '9' }
const nothing: Outcome = { findings: [], tables: [], charts: {} }

/** Every target, at so many times its must where more is better. */
function outcomeAt(factor: number): Outcome {
  const findings = (Object.keys(targets) as TargetName[]).map((target) => {
    const { must, better } = targetOf(target)
    return { target, measured: exactly(better === 'higher' ? must * factor : must / factor) }
  })
  return { ...nothing, findings }
}

describe('the benchmark report', () => {
  it.each([
    ['memoryHot', 15, 'aim met'],
    ['memoryHot', 14.999, 'must met'],
    ['memoryHot', 7.99, '**must missed**'],
    ['latency', 1.1, 'aim met'],
    ['latency', 1.25, 'must met'],
    ['latency', 1.2501, '**must missed**'],
    ['clusterTime', 1.15, 'must met'],
    ['footprint', Number.NaN, '**must missed**'],
  ] as const)('judges %s at %d: %s', (target, measured, verdict) => {
    expect(verdictOf(targetOf(target), measured)).toBe(verdict)
  })

  it.each([
    ['memoryHot', 7.5, 50],
    ['usersMemory', 30, 50],
    ['usersMemory', 7.5, 200],
    ['clusterTime', 1, undefined],
  ] as const)('%s at %d is so much of its aim: %s percent', (target, measured, share) => {
    expect(shareOfAim(targetOf(target), measured)).toBe(share)
  })

  it('shows target, median, spread, distance to the aim and verdict in one row', () => {
    const measured = { median: 3, least: 2.1, most: 3.456 }
    const rows = renderTargets({ ...nothing, findings: [{ target: 'redisFew', measured, against: 'a peer' }] })
    const [, , row] = rows.split('\n')
    expect(row).toBe(`| ${targets.redisFew.what} | 1.7x | 2.5x | 3x (a peer) | 2.1x to 3.46x | 120 % | aim met |`)
  })

  it('orders rows by the targets, and says what was not measured', () => {
    const rows = renderTargets({
      ...nothing,
      findings: [
        { target: 'usersMemory', measured: exactly(20) },
        { target: 'leased', why: 'no such mode' },
      ],
    })
    expect(rows.split('\n').slice(2)).toEqual([
      `| ${targets.leased.what} | 20x | 50x | - | - | - | not measured: no such mode |`,
      `| ${targets.usersMemory.what} | 22 MB | 15 MB | 20 MB | - | 75 % | must met |`,
    ])
  })

  it('gives figures their unit and three digits, and no spread to what cannot vary', () => {
    const table = tableOf('A table', [
      { what: 'a', measured: { median: 5.4321, least: 5, most: 6.789 }, unit: 'M/s' },
      { what: 'b', measured: exactly(1234.5), unit: 'B' },
    ])
    expect(renderTables({ ...nothing, tables: [table] }).split('\n')).toEqual([
      '### A table',
      '',
      '| what | median | least to most |',
      '| --- | --- | --- |',
      '| a | 5.43 M/s | 5 to 6.79 |',
      '| b | 1,235 B | - |',
    ])
  })

  it('refuses a template with a place that nothing fills, or a note for what is no target', () => {
    expect(renderReport('on {{date}}', circumstances, nothing)).toBe('on 2026-01-02')
    expect(() => renderReport('{{dat}}', circumstances, nothing)).toThrow('{{dat}}')
    expect(() => renderReport('{{#missed nosuch}}\nx\n{{/missed}}\n', circumstances, nothing)).toThrow('nosuch')
  })

  it('keeps a note where its must is missed, and names a missed must that has none', () => {
    const template = '{{#missed latency footprint}}\nnote\n{{/missed}}\n{{unexplained}}\n'
    const missed = (target: TargetName) => ({ target, measured: exactly(100) })
    expect(renderReport(template, circumstances, nothing)).toBe('None is in this run.\n')
    expect(renderReport(template, circumstances, { ...nothing, findings: [missed('footprint')] })).toBe('note\n')
    const text = renderReport(template, circumstances, {
      ...nothing,
      findings: [missed('serverTime'), missed('matching')],
    })
    expect(text).toMatch(/^\*\*Redis time of an exact.*\n\n\*\*Gate, 1,000 rules/)
  })

  it('has prose for every must that a run can miss', () => {
    expect(renderReport(TEMPLATE, circumstances, outcomeAt(1))).toContain('None is in this run.')
    expect(renderReport(TEMPLATE, circumstances, outcomeAt(0.9))).not.toContain('not looked into')
  })

  it('fills README between its marks', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const filled = fillReadme(readme, outcomeAt(2))
    expect(filled).toContain(' | 5.6x | 5.6x to 5.6x |')
    expect(fillReadme(filled, outcomeAt(2))).toBe(filled)
    expect(() => fillReadme('no marks', nothing)).toThrow('README.md')
  })

  it('draws bars with their spread', () => {
    const bars = [
      { name: 'ours & all', measured: { median: 10, least: 8, most: 20 }, isOurs: true },
      { name: 'theirs', measured: exactly(5), isOurs: false },
    ]
    const svg = drawBars({ title: 'A title', unit: 'k/s', bars })
    expect(svg).toContain('<rect class="ours" x="230" y="40" width="205.0" height="20"/>')
    expect(svg).toContain('M394 50H640')
    expect(svg).toContain('ours &amp; all')
    expect(svg).toContain('5 k/s')
  })
})
