import { z } from 'zod'

/** The fields of `store`, and of its `breaker`: what they mean stands in docs/reference/configuration.md. */
export const breakerShape = {
  failures: whole(1, 1_000_000).optional(),
  share: z
    .number({ error: 'a number above 0 to 1' })
    .gt(0, { error: 'a number above 0 to 1' })
    .max(1, { error: 'a number above 0 to 1' })
    .optional(),
  windowMs: whole(100, 600_000).optional(),
  minimum: whole(1, 1_000_000).optional(),
  backoffMs: whole(1, 600_000).optional(),
  maxBackoffMs: whole(1, 600_000).optional(),
}

export const storeShape = {
  deadlineMs: whole(1, 60_000).optional(),
  instances: whole(1, 1_000_000).optional(),
  maxLocalKeys: whole(1, 8_000_000).optional(),
}

function whole(least: number, most: number) {
  const error = `a whole number from ${least.toLocaleString('en-US')} to ${most.toLocaleString('en-US')}`
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error })
}
