import { ServiceError } from '../errors.ts'
import type { DescriptorMessage, RateLimitMessage } from './protocol.ts'
import { type LimitRequest, MOST_DESCRIPTORS, MOST_ENTRIES, type RequestDescriptor } from './request.ts'
import { unitNumbered } from './units.ts'

const MOST_HITS = 2 ** 32 - 1

/**
 * Checks a request and gives its fields their meaning: hits of 0 are 1 for the request, and a look for a descriptor.
 * @throws ServiceError `ERR_INVALID_BODY`
 */
export function readRequest({ domain, descriptors, hitsAddend }: RateLimitMessage): LimitRequest {
  if (domain === '') throw refusal('domain', 'the name of a domain; received none')
  const count = descriptors.length
  if (count === 0 || count > MOST_DESCRIPTORS) {
    throw refusal('descriptors', `1 to ${MOST_DESCRIPTORS} descriptors; received ${count}`)
  }
  const usual = hitsAddend === 0 ? 1 : hitsAddend
  return { domain, descriptors: descriptors.map((one, i) => readDescriptor(one, usual, i)), hitsAddend }
}

function readDescriptor(
  { entries, hitsAddend, isNegativeHits, limit }: DescriptorMessage,
  usual: number,
  index: number,
): RequestDescriptor {
  const field = `descriptors[${index}]`
  // None is none too many: Envoy sends such a descriptor where all of its actions were skipped.
  if (entries.length > MOST_ENTRIES) {
    throw refusal(`${field}.entries`, `at most ${MOST_ENTRIES} entries; received ${entries.length}`)
  }
  if (limit !== undefined && unitNumbered(limit.unit) === undefined) {
    throw refusal(`${field}.limit.unit`, `a unit of the protocol; received ${limit.unit}`)
  }
  // What is beyond the largest count is beyond every limit.
  const ownHits = hitsAddend === undefined ? undefined : Number(hitsAddend)
  const override = limit === undefined ? undefined : { requestsPerUnit: limit.requestsPerUnit, unit: limit.unit }
  return { entries, hits: Math.min(ownHits ?? usual, MOST_HITS), ownHits, isRefund: isNegativeHits, override }
}

function refusal(field: string, expected: string): ServiceError {
  return new ServiceError('ERR_INVALID_BODY', `${field}: expected ${expected}`, { field, expected })
}
