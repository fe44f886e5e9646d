import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { openapiDocument } from './openapi-document.ts'

/** `GET /openapi.json`: what can be asked over HTTP. */
export async function openapiRoute(server: FastifyInstance): Promise<void> {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const document = JSON.stringify(openapiDocument((JSON.parse(manifest) as { version: string }).version))
  server.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(document))
}
