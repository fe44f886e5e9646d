import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

/** `GET /v1/schema`: the JSON Schema of the configuration file, for editors. */
export async function schemaRoute(server: FastifyInstance): Promise<void> {
  const schema = readFileSync(new URL('../../config/rules.schema.json', import.meta.url), 'utf8')
  server.get('/v1/schema', async (_request, reply) => reply.type('application/schema+json').send(schema))
}
