import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { listeningService } from '../testing/listening-service.ts'

test('GET /v1/schema is the schema that comes with the package', async () => {
  const service = await listeningService({ rules: [] })
  const answer = await fetch(`${service.url}/v1/schema`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/schema+json; charset=utf-8'])
  const committed = readFileSync(new URL('../../config/rules.schema.json', import.meta.url), 'utf8')
  expect(await answer.text()).toBe(committed)
  await service.close()
})
