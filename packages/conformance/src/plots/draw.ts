import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { drawPlots } from './plots.ts'

/** Writes the plots of docs/algorithms: `npm run plots`. */
const FOLDER = join(import.meta.dirname, '../../../../docs/images/algorithms')
await mkdir(FOLDER, { recursive: true })
for (const [name, svg] of Object.entries(drawPlots())) await writeFile(join(FOLDER, name), svg)
