import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drawPlots } from './plots.ts'

const FOLDER = join(import.meta.dirname, '../../../../docs/images/algorithms')

test.each(Object.entries(drawPlots()))('%s is what the library does', (name, svg) => {
  expect(readFileSync(join(FOLDER, name), 'utf8')).toBe(svg)
})
