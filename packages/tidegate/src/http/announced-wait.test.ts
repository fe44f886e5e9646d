import { expect, test } from 'vitest'
import { announcedWaitMs } from './announced-wait.ts'

const NOW = Date.parse('2026-12-01T00:00:00Z')

test.each([
  ['nothing', {}, 0],
  ['Retry-After in seconds', { 'Retry-After': '120' }, 120_000],
  ['Retry-After as a date', { 'Retry-After': 'Tue, 01 Dec 2026 00:00:30 GMT' }, 30_000],
  ['Retry-After that is past', { 'Retry-After': 'Mon, 30 Nov 2026 00:00:00 GMT' }, 0],
  ['Retry-After that is none', { 'Retry-After': 'soon' }, 0],
  ['draft 8, of what is used up', { RateLimit: '"burst";r=0;t=30, "daily";r=9;t=900' }, 30_000],
  ['draft 8, the longest', { RateLimit: '"burst";r=0;t=30, "daily";t=900;r=0' }, 900_000],
  ['draft 8, with something left', { RateLimit: '"burst";r=10;t=30' }, 0],
  ['draft 8, without a time', { RateLimit: '"burst";r=0' }, 0],
  ['draft 7', { RateLimit: 'limit=10, remaining=0, reset=7' }, 7000],
  ['draft 7, with something left', { RateLimit: 'limit=10, remaining=5, reset=7' }, 0],
  ['draft 6', { 'RateLimit-Remaining': '0', 'RateLimit-Reset': '9' }, 9000],
  ['draft 6, with something left', { 'RateLimit-Remaining': '1', 'RateLimit-Reset': '9' }, 0],
  ['X-RateLimit from now', { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '11' }, 11_000],
  [
    'X-RateLimit since the epoch',
    { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(NOW / 1000 + 13) },
    13_000,
  ],
  ['the longest of several', { 'Retry-After': '5', RateLimit: '"a";r=0;t=8' }, 8000],
  ['what is no number', { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': 'later' }, 0],
] as const)('%s', (_name, headers, expected) => {
  expect(announcedWaitMs(new Headers(headers as Record<string, string>), NOW)).toBe(expected)
})
