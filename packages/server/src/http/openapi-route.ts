import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

/** `GET /openapi.json`: what can be asked over HTTP. Made with the first request, which few services get. */
export async function openapiRoute(server: FastifyInstance): Promise<void> {
  let document: string | undefined
  server.get('/openapi.json', async (_request, reply) => {
    document ??= await makeDocument()
    return reply.type('application/json').send(document)
  })
}

async function makeDocument(): Promise<string> {
  const { openapiDocument } = await import('./openapi-document.ts')
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return JSON.stringify(openapiDocument((JSON.parse(manifest) as { version: string }).version))
}
