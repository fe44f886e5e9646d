import { expect, test } from 'vitest'
import { hashSlot } from './hash-slot.ts'

// From the cluster specification; packages/conformance asks a real server about thousands of others.
test.each([
  ['123456789', 0x31c3],
  ['', 0],
  ['foo', 12182],
  ['{user1000}.following', 3443],
  ['{user1000}.followers', 3443],
  ['foo{}{bar}', 8363],
  ['foo{{bar}}zap', 4015],
  ['foo{bar}{zap}', 5061],
])('%s lies in slot %i', (key, slot) => expect(hashSlot(key)).toBe(slot))
