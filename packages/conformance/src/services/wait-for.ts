import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until a condition holds, asking every 20 ms. An error counts as not yet.
 * @throws Error naming what was waited for, with the last error as its cause
 */
export async function waitFor(what: string, holds: () => Promise<boolean>, milliseconds = 20_000): Promise<void> {
  const deadline = Date.now() + milliseconds
  for (;;) {
    let failure: unknown
    try {
      if (await holds()) return
    } catch (error) {
      failure = error
    }
    if (Date.now() > deadline) throw new Error(`waited ${milliseconds} ms for ${what}`, { cause: failure })
    await sleep(20)
  }
}
