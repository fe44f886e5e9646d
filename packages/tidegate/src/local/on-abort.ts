const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back once the signal is aborted. However many wait for one signal (that of a shutdown, say), it has one
 * listener: Node warns of a leak where an EventTarget has more than ten.
 * @returns stops it
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = callbacksOf.get(signal) ?? listen(signal)
  callbacks.add(callback)
  return () => {
    callbacks.delete(callback)
    if (callbacks.size === 0) forget(signal)
  }
}

function listen(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>()
  callbacksOf.set(signal, callbacks)
  signal.addEventListener('abort', callAll)
  return callbacks
}

function callAll(this: AbortSignal): void {
  for (const callback of callbacksOf.get(this) ?? []) callback()
}

function forget(signal: AbortSignal): void {
  callbacksOf.delete(signal)
  signal.removeEventListener('abort', callAll)
}
