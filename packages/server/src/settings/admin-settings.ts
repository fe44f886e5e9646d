import { readTokens, type Tokens } from '../admin/tokens.ts'
import type { StatsdAddress } from '../metrics/statsd-counters.ts'
import { readCount } from './read-count.ts'
import { readStatsd } from './read-statsd.ts'
import type { Setting } from './setting.ts'

/** The settings of whoever runs the service. */
export const adminSettings = {
  adminTokens: {
    flag: '--admin-tokens',
    environment: 'TIDEGATE_ADMIN_TOKENS',
    placeholder: 'FILE',
    default: '',
    defaultDoc: 'only this machine itself may administrate',
    doc: 'The bearer tokens that may administrate: a file with read:TOKEN, write:TOKEN or store:TOKEN (for tidegate/remote) on each line, or such a list with commas.',
    expected:
      'a file with read:TOKEN, write:TOKEN or store:TOKEN on each line, or a list of these; a token has at least 16 letters, digits or ._~+/=-',
    read: readTokens,
  } satisfies Setting<Tokens>,
  logDenials: {
    flag: '--log-denials',
    environment: 'TIDEGATE_LOG_DENIALS',
    placeholder: 'COUNT',
    default: '0',
    defaultDoc: 'none',
    doc: 'How many refused requests are a line in the log in each second at most, with what they were counted by.',
    expected: 'a whole number from 0 to 1000000',
    read: (text) => (text === '0' ? 0 : readCount(text)),
  } satisfies Setting<number>,
  statsd: {
    flag: '--statsd',
    environment: 'TIDEGATE_STATSD',
    placeholder: 'ADDRESS',
    default: '',
    defaultDoc: 'none',
    doc: 'The host:port of a statsd that gets the counters of envoyproxy/ratelimit by their names, over UDP.',
    expected: 'a host and a port, such as localhost:8125',
    read: readStatsd,
  } satisfies Setting<StatsdAddress | null>,
} as const
