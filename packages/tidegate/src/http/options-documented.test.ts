import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { limitsFields, requestFields } from './request-options.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/reference/http.md'), 'utf8')

it('docs/reference/http.md has every option, and no other', () => {
  const [, options = ''] = /## Options\n([\s\S]*?)\n## /.exec(page) ?? []
  const documented = [...options.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  // The fields of the one limit are those of a limiter; a handler is an adapter's.
  expect(documented.sort()).toEqual([...limitsFields, ...requestFields, 'handler'].sort())
})
