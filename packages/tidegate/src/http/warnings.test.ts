import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

describe('a warning', () => {
  it('is given by the process, once', () => {
    const script = `
      import { rateLimit } from 'tidegate/node'
      for (let i = 0; i < 3; i++) rateLimit({ limit: 1, window: '1m', trustProxy: true })
      process.on('warning', ({ name, code, message }) => console.log(name, code, message.slice(0, 30)))`
    const options = { cwd: import.meta.dirname, encoding: 'utf8', input: script, stdio: 'pipe' } as const
    const printed = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-'], options)
    expect(printed).toBe('TidegateWarning TIDEGATE_TRUSTS_EVERYONE trustProxy believes everybody:\n')
  })

  it('goes to the console where there is no process', () => {
    const script = `
      import { rateLimit } from 'tidegate/fetch'
      process.emitWarning = undefined
      rateLimit({ limit: 1, window: '1m', trustProxy: true })`
    const options = { cwd: import.meta.dirname, encoding: 'utf8', input: script, stdio: 'pipe' } as const
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-'], options)
    expect(stderr).toMatch(/^TIDEGATE_TRUSTS_EVERYONE: trustProxy believes everybody/)
  })
})
