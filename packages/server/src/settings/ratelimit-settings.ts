import { type Counting, countings, type HeaderNames } from '../envoy/settings.ts'
import { readSwitch } from './read-switch.ts'
import type { Setting } from './setting.ts'

const SWITCH = 'true or false'

/** The settings of a configuration of envoyproxy/ratelimit. */
export const rateLimitSettings = {
  ratelimitConfig: {
    flag: '--ratelimit-config',
    environment: 'TIDEGATE_RATELIMIT_CONFIG',
    placeholder: 'PATH',
    default: '',
    defaultDoc: 'rate limit requests are decided by the rules',
    doc: 'A file of envoyproxy/ratelimit, or a folder of such files, that rate limit requests are decided by.',
    expected: 'the name of a file or a folder',
    read: (text) => text,
  } satisfies Setting<string>,
  ratelimitMergeDomains: {
    flag: '--ratelimit-merge-domains',
    environment: 'TIDEGATE_RATELIMIT_MERGE_DOMAINS',
    placeholder: 'BOOLEAN',
    default: 'false',
    doc: 'Whether several of these files may have the same domain.',
    expected: SWITCH,
    read: readSwitch,
  } satisfies Setting<boolean>,
  ratelimitCounting: {
    flag: '--ratelimit-counting',
    environment: 'TIDEGATE_RATELIMIT_COUNTING',
    placeholder: 'HOW',
    default: 'together',
    doc: 'together charges all descriptors of a request or none; apart charges each by itself, as envoyproxy/ratelimit does.',
    expected: `one of ${countings.join(', ')}`,
    read: (text): Counting | undefined => countings.find((one) => one === text),
  } satisfies Setting<Counting>,
  ratelimitShadow: {
    flag: '--ratelimit-shadow',
    environment: 'TIDEGATE_RATELIMIT_SHADOW',
    placeholder: 'BOOLEAN',
    default: 'false',
    doc: 'Whether every rate limit request passes, whatever its statuses say.',
    expected: SWITCH,
    read: readSwitch,
  } satisfies Setting<boolean>,
  ratelimitQuota: {
    flag: '--ratelimit-quota',
    environment: 'TIDEGATE_RATELIMIT_QUOTA',
    placeholder: 'BOOLEAN',
    default: 'false',
    doc: 'Whether all limits are quotas: a request is refused when all of its limits are used up.',
    expected: SWITCH,
    read: readSwitch,
  } satisfies Setting<boolean>,
  ratelimitHeaders: {
    flag: '--ratelimit-headers',
    environment: 'TIDEGATE_RATELIMIT_HEADERS',
    placeholder: 'NAMES',
    default: '',
    defaultDoc: 'none',
    doc: 'The response headers for limit, remaining and reset, with commas between; on is RateLimit-Limit,RateLimit-Remaining,RateLimit-Reset.',
    expected: 'three names of headers with commas between, or on',
    read: readHeaderNames,
  } satisfies Setting<HeaderNames | null>,
  ratelimitMetadata: {
    flag: '--ratelimit-metadata',
    environment: 'TIDEGATE_RATELIMIT_METADATA',
    placeholder: 'BOOLEAN',
    default: 'false',
    doc: 'Whether answers have the request, and the metadata of the limits that it passed, as dynamic metadata.',
    expected: SWITCH,
    read: readSwitch,
  } satisfies Setting<boolean>,
} as const

function readHeaderNames(text: string): HeaderNames | null | undefined {
  if (text === '') return null
  if (text === 'on') return { limit: 'RateLimit-Limit', remaining: 'RateLimit-Remaining', reset: 'RateLimit-Reset' }
  const names = text.split(',').map((name) => name.trim())
  const [limit = '', remaining = '', reset = ''] = names
  const known = names.length === 3 && names.every((name) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
  return known ? { limit, remaining, reset } : undefined
}
