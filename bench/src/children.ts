import type { ChildProcess } from 'node:child_process'

const children = new Set<ChildProcess>()
let isListening = false

/** An error or a signal must leave no process behind: what is started goes when this one does. */
export function endsWithUs(child: ChildProcess): void {
  if (!isListening) process.once('exit', killAll)
  isListening = true
  children.add(child)
  child.once('exit', () => children.delete(child))
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL')
}

/** A signal is an exit too, so that `killAll` runs. */
export function exitOnSignals(): void {
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
}
