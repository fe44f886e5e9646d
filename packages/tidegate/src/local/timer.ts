/** The longest that `setTimeout` can wait, in ms; what is longer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Calls back once after so many ms, however many they are. The timer keeps the process alive: somebody waits for it.
 * @returns stops it
 */
export function startTimer(ms: number, callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>
  const arm = (left: number) => {
    const step = Math.min(left, MAX_TIMER_MS)
    timer = setTimeout(() => (step < left ? arm(left - step) : callback()), step)
  }
  arm(ms)
  return () => clearTimeout(timer)
}
