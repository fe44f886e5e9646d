import { afterEach, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'

let service: ListeningService | undefined
afterEach(() => service?.close())

interface Document {
  openapi: string
  paths: Record<string, Record<string, { summary: string }>>
}

/** The page, and the document itself. */
const OTHERS = ['/', '/openapi.json']

test('the document has every path that is served, with its methods, and no other', async () => {
  service = await listeningService({ rules: [] })
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
  expect(document.openapi).toBe('3.1.0')
  const documented = Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods).sort()])
  const served = service.routes().filter(([path]) => !OTHERS.includes(path))
  expect(documented.sort()).toEqual(served.sort())
})

test('each schema that is named is there', async () => {
  service = await listeningService({ rules: [] })
  const text = await (await fetch(`${service.url}/openapi.json`)).text()
  const document = JSON.parse(text) as { components: { schemas: Record<string, unknown> } }
  const named = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name)
  expect([...new Set(named)].sort()).toEqual(Object.keys(document.components.schemas).sort())
})

test('browsers of other origins are told nothing', async () => {
  service = await listeningService({ rules: [] })
  const headers = { origin: 'https://other.example', 'access-control-request-method': 'POST' }
  const answer = await fetch(`${service.url}/v1/limit`, { method: 'OPTIONS', headers })
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})
