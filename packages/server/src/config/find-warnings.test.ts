import { describe, expect, test } from 'vitest'
import { exampleConfigFile } from '../settings/settings.ts'
import { clusterNotes, warningsOf } from './find-warnings.ts'
import { loadConfig, parseConfig } from './load-config.ts'
import { formatWarning } from './warning.ts'

function found(find: typeof warningsOf, ...rules: string[]): string[] {
  const loaded = parseConfig(['rules:', ...rules.map((rule) => `  - ${rule}`)].join('\n'))
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return find(loaded.config, loaded.document).map((warning) => formatWarning('', warning).slice(1))
}

const ALL = 'limit: 9, window: 1m'

describe('warns of', () => {
  const odd: [string, string[], string[]][] = [
    [
      'a key that the match excludes',
      [`{ name: a, match: { user: { not: { glob: ['x*', '***'] } } }, key: [ip, user], ${ALL} }`],
      [
        '2:72: warning: rules[0] (a) never counts a request: its match wants no user, and its key needs one; leave user out of one of the two',
      ],
    ],
    [
      'a required key that the match excludes',
      [`{ name: a, match: { user: { not: { glob: '**' } } }, key: [user], required: true, ${ALL} }`],
      [
        '2:63: warning: rules[0] (a) refuses all that it matches: its match wants no user, and its key needs one; leave user out of one of the two',
      ],
    ],
    [
      'a skip that takes all',
      [`{ name: a, match: { route: [/b, /a], ip: '::1' }, skip: [{ user: x }, { route: [/a, /b] }], ${ALL} }`],
      ['2:61: warning: rules[0] (a) never counts a request: it skips all that it matches; look at its skip'],
    ],
    [
      'an override behind one that takes all of its requests',
      [
        `{ name: a, ${ALL}, overrides: [{ tenant: t, limit: 1 }, { user: u, limit: 2 }, { user: u, tenant: t, limit: 3 }] }`,
      ],
      [
        '2:49: warning: rules[0] (a) never reaches overrides[2]: whoever meets it meets overrides[0] before; put the one with more conditions first, or leave one of the two out',
      ],
    ],
    [
      'a limit of 0 for everybody',
      [
        '{ name: a, key: [user], limit: 0, window: 1s }',
        '{ name: b, algorithm: token-bucket, limit: 1, window: 1s, capacity: 0 }',
      ],
      [
        '2:36: warning: rules[0] (a) refuses every request with a user: it admits nothing, and has no match; give it a limit, or a match for those who are meant',
        '3:73: warning: rules[1] (b) refuses everybody: it admits nothing, and has no match; give it a limit, or a match for those who are meant',
      ],
    ],
    [
      'a limit of 0 for all who have the dimensions',
      ['{ name: a, key: [user, ip], limit: 0, window: 1s }'],
      [
        '2:40: warning: rules[0] (a) refuses every request with a user and a ip: it admits nothing, and has no match; give it a limit, or a match for those who are meant',
      ],
    ],
    [
      'a limit that nothing reaches',
      ['{ name: a, limit: 4_000_000_000, window: 1s, algorithm: fixed-window }'.replaceAll('_', '')],
      [
        '2:23: warning: rules[0] (a) refuses no request of cost 1: it admits 4,000,000 in each ms; look at its limit and its window, or leave the rule out',
      ],
    ],
    [
      'a bucket smaller than what comes in one ms',
      ['{ name: a, algorithm: gcra, limit: 10000, period: 1s, burst: 5 }'],
      [
        '2:66: warning: rules[0] (a) can hold 5, less than comes in one ms: at most that many are admitted in each ms; give it a larger capacity, or a lower limit',
      ],
    ],
    [
      'a key that takes much room',
      ['{ name: a, limit: 2000000, window: 1d }', '{ name: b, algorithm: sliding-log, limit: 200000, window: 1h }'],
      [
        '2:23: warning: rules[0] (a) can take 20 MB in the store for one key; give it a resolution, such as a hundredth of the window',
        '3:47: warning: rules[1] (b) can take 20 MB in the store for one key; lower its limit',
      ],
    ],
    [
      'two rules that do the same, however they are written',
      [
        `{ name: a, match: { route: [/a, /b], ip: { cidr: 10.0.0.0/8 } }, key: [user, ip], limit: 9, window: 1m }`,
        `{ name: b, match: { ip: { cidr: [10.1.0.0/16, 10.0.0.0/8] }, route: [/b, /a, /b] }, key: [ip, user], limit: 9, window: 60s, algorithm: sliding-window, resolution: 1 }`,
      ],
      ['3:13: warning: rules[1] (b) does the same as rules[0] (a); leave one of the two out'],
    ],
    [
      'two rules with the same exceptions, however they are written',
      [
        `{ name: a, ${ALL}, skip: [{ route: /a, ip: '::1' }, { user: u }], overrides: [{ user: v, tenant: t, limit: 5 }] }`,
        `{ name: b, ${ALL}, skip: [{ user: u }, { ip: '::1', route: /a }], overrides: [{ tenant: t, user: v, limit: 5 }] }`,
      ],
      ['3:13: warning: rules[1] (b) does the same as rules[0] (a); leave one of the two out'],
    ],
    [
      'two limits on the same count',
      [`{ name: a, ${ALL} }`, '{ name: b, limit: 10, window: 1m }', '{ name: c, limit: 8, window: 1m }'],
      [
        '3:23: warning: rules[1] (b) counts the same as rules[0] (a), so that its own larger limit is never reached; leave the larger limit out, or count something else',
        '4:23: warning: rules[2] (c) counts the same as rules[0] (a), so that the larger limit of 9 there is never reached; leave the larger limit out, or count something else',
      ],
    ],
  ]
  test.each(odd)('%s', (_, rules, warnings) => {
    expect(found(warningsOf, ...rules)).toEqual(warnings)
  })
})

describe('does not warn of', () => {
  const usual: [string, string[]][] = [
    ['a key that the match allows to be missing', [`{ name: a, match: { user: { not: root } }, key: [user], ${ALL} }`]],
    [
      'a match on a missing dimension that is not in the key',
      [`{ name: a, match: { user: { not: { glob: '**' } } }, key: [ip], ${ALL} }`],
    ],
    ['a limit of 0 that shuts some out', ['{ name: a, match: { ip: 10.0.0.1 }, limit: 0, window: 1s }']],
    ['two windows', [`{ name: a, ${ALL} }`, '{ name: b, limit: 9, window: 1h }']],
    ['two keys', [`{ name: a, key: [user], ${ALL} }`, `{ name: b, key: [ip], ${ALL} }`]],
    ['two matches', [`{ name: a, match: { route: /a }, ${ALL} }`, `{ name: b, match: { route: /b }, ${ALL} }`]],
    [
      'two rates of a bucket',
      [
        '{ name: a, algorithm: token-bucket, limit: 1, capacity: 10, window: 1s }',
        '{ name: b, algorithm: token-bucket, limit: 5, capacity: 5, window: 1s }',
      ],
    ],
    [
      'two zones of a calendar',
      [
        '{ name: a, limit: 9, algorithm: fixed-window, align: day }',
        '{ name: b, limit: 9, algorithm: fixed-window, align: day, timeZone: Europe/Berlin }',
      ],
    ],
    [
      'two limits tried in shadow',
      [`{ name: a, shadow: true, ${ALL} }`, '{ name: b, shadow: true, limit: 5, window: 1m }'],
    ],
    ['no limit but for some', ['{ name: a, limit: 4294967295, window: 1s, overrides: [{ user: bad, limit: 1 }] }']],
    ['the same limit in shadow', [`{ name: a, ${ALL} }`, `{ name: b, shadow: true, ${ALL} }`]],
    [
      'a limit of 0 with exceptions, from a dimension, or on trial',
      [
        '{ name: a, limit: 0, window: 1s, overrides: [{ user: u, limit: 5 }] }',
        '{ name: b, limit: { dimension: plan_limit, default: 0 }, window: 2s }',
        '{ name: c, limit: 0, window: 3s, shadow: true }',
        '{ name: d, limit: 0, window: 3s, skip: { user: u } }',
        '{ name: e, unlimited: true }',
      ],
    ],
    ['two sets of exceptions', [`{ name: a, skip: { user: u }, ${ALL} }`, `{ name: b, skip: { user: v }, ${ALL} }`]],
    [
      'overrides of which the first has more conditions',
      [`{ name: a, ${ALL}, overrides: [{ user: u, tenant: t, limit: 3 }, { user: u, limit: 2 }] }`],
    ],
    ['a million in a window with a resolution', ['{ name: a, limit: 2000000, window: 1d, resolution: 1m }']],
  ]
  test.each(usual)('%s', (_, rules) => {
    expect(found(warningsOf, ...rules)).toEqual([])
  })

  test('the example', () => {
    const loaded = loadConfig(exampleConfigFile)
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    expect(warningsOf(loaded.config, loaded.document)).toEqual([])
  })
})

test('notes which rules a cluster decides in more than one step', () => {
  const rules = [
    `{ name: a, match: { route: /a }, key: [user], ${ALL} }`,
    `{ name: b, match: { route: /b }, key: [ip], ${ALL} }`,
    `{ name: c, match: { route: /a }, key: [user], limit: 9, window: 1h }`,
    `{ name: d, key: [ip], limit: 9, window: 1d }`,
  ]
  expect(found(clusterNotes, ...rules)).toEqual([
    expect.stringMatching(
      /^5:21: info: rules\[3\] \(d\) and rules\[0\] \(a\) can lie in two slots of a cluster, .*; that never/,
    ),
  ])
  expect(found(clusterNotes, ...rules.slice(0, 3))).toEqual([])
})
