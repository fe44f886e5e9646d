declare const process: { nextTick?: (callback: () => void) => void } | undefined

/** In Node a tick runs after all promise reactions of the turn and so gathers more than a microtask. */
export const afterThisTurn: (callback: () => void) => void =
  (typeof process === 'object' ? process.nextTick : undefined) ?? queueMicrotask
