import type { RuleOptions } from 'tidegate'
import { compileRule } from 'tidegate/store'
import { expect, test } from 'vitest'
import { appliesText, limitText, particularsText, windowText } from './rule-text.ts'

const texts: [rule: Partial<RuleOptions>, applies: string, limit: string, window: string, particulars: string][] = [
  [{ limit: 1000, window: '90s' }, 'every request', '1,000', '90 s', ''],
  [
    { limit: 5, algorithm: 'fixed-window', align: 'day', timeZone: 'Europe/Berlin' },
    'every request',
    '5',
    'day (Europe/Berlin)',
    'fixed-window',
  ],
  [{ limit: 5, algorithm: 'fixed-window', align: 'week' }, 'every request', '5', 'week (UTC)', 'fixed-window'],
  [{ limit: 5, algorithm: 'fixed-window', window: '7d' }, 'every request', '5', '7 d', 'fixed-window'],
  [{ limit: 500, algorithm: 'quota' }, 'every request', '500', 'for ever', 'quota'],
  [{ limit: 5, algorithm: 'gcra', period: '1m', burst: 2 }, 'every request', '2', '1 min', 'token-bucket'],
  [{ unlimited: true }, 'every request', 'none', 'none', ''],
  [
    { unlimited: true, limit: 9, window: 1500, overrides: [{ user: 'a', limit: 1 }] },
    'every request',
    'none, with 1 override',
    '1,500 ms',
    '',
  ],
  [
    {
      match: { route: '/a', user: { not: 'b' } },
      skip: [{ ip: { cidr: '::1' } }, { user: 'c' }, { user: 'd' }, { user: 'e' }],
      limit: { dimension: 'plan', default: 10 },
      window: '1h',
      overrides: [
        { user: 'a', limit: 1 },
        { user: 'b', unlimited: true },
      ],
      shadow: true,
      required: true,
      cost: 'tokens',
    },
    'route = /a, user not = b, except ip in ::1/128, except user = c, except user = d, except 1 more',
    'plan, else 10, with 2 overrides',
    '1 h',
    'in shadow: refuses nobody; costs tokens; refuses requests without these dimensions',
  ],
  [{ limit: () => 1, window: '1h' }, 'every request', 'by function', '1 h', ''],
]

test.each(texts)('%j', (options, applies, limit, window, particulars) => {
  const rule = compileRule({ name: 'r', ...options }, 'rule')
  expect([appliesText(rule), limitText(rule), windowText(rule), particularsText(rule)]).toEqual([
    applies,
    limit,
    window,
    particulars,
  ])
})
