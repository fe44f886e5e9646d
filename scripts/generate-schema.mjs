/** Writes the JSON Schema of the configuration file, from the built service and the reference. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configJsonSchema } from '../packages/server/dist/config/json-schema.js'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const output = path('packages/server/config/rules.schema.json')
const reference = readFileSync(path('docs/reference/configuration.md'), 'utf8')
const schema = `${JSON.stringify(configJsonSchema(reference), null, 2)}\n`
// Left alone where nothing has changed.
if (!existsSync(output) || readFileSync(output, 'utf8') !== schema) writeFileSync(output, schema)
