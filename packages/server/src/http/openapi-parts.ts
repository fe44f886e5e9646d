/** What the OpenAPI document is made of. */
export type Schema = Readonly<Record<string, unknown>>

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const list = (items: Schema): Schema => ({ type: 'array', items })
export const object = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

export const text: Schema = { type: 'string' }
export const flag: Schema = { type: 'boolean' }
export const count: Schema = { type: 'integer', minimum: 0, maximum: 4_294_967_295 }
export const milliseconds: Schema = {
  type: ['integer', 'null'],
  minimum: 0,
  description: 'Milliseconds; null for never.',
}
export const id: Schema = { type: 'string', minLength: 1, maxLength: 256 }
export const duration: Schema = { type: ['integer', 'string'], examples: ['10m', 600_000] }

const json = (schema: Schema): object => ({ content: { 'application/json': { schema } } })
export const answer = (description: string, schema: Schema): object => ({ description, ...json(schema) })
const problem: object = {
  description: 'What is wrong, as a problem document (RFC 9457).',
  content: { 'application/problem+json': { schema: ref('Problem') } },
}

interface Operation {
  readonly summary: string
  readonly body?: Schema
  readonly answers: Readonly<Record<number, object>>
  readonly isAdmin?: boolean
}

export function operation({ summary, body, answers, isAdmin = false }: Operation): object {
  return {
    summary,
    ...(body !== undefined && { requestBody: { required: true, ...json(body) } }),
    responses: { ...answers, default: problem },
    ...(isAdmin && { security: [{ token: [] }] }),
  }
}

export const plain = (description: string): object => ({ description, content: { 'text/plain': { schema: text } } })
export const of = (properties: Record<string, Schema>): object =>
  answer('Done.', object(properties, Object.keys(properties)))
