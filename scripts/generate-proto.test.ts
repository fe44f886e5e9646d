import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('the code of the protos is what they make', () => {
  const script = join(import.meta.dirname, 'generate-proto.mjs')
  expect(spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  })
})
