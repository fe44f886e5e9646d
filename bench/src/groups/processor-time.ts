import { readdir, readFile } from 'node:fs/promises'

/**
 * Microseconds that a process and its threads have computed, as Linux counts them.
 * @throws Error where there is no /proc
 */
export async function processorTime(pid: number): Promise<number> {
  const tasks = `/proc/${pid}/task`
  const texts = await Promise.all((await readdir(tasks)).map((task) => readFile(`${tasks}/${task}/schedstat`, 'utf8')))
  return texts.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1000, 0)
}
