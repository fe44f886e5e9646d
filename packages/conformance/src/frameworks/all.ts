import { createRequire } from 'node:module'
import express from 'express'
import { expressFramework } from './express.ts'
import { fastifyFramework } from './fastify.ts'
import { fetchFramework } from './fetch.ts'
import type { Framework } from './framework.ts'
import { honoFramework } from './hono.ts'
import { koaFramework } from './koa.ts'
import { nestExpress, nestFastify } from './nestjs.ts'
import { nodeFramework } from './node.ts'

/** Every framework that has an adapter. */
export const all: readonly Framework[] = [
  nodeFramework,
  expressFramework('Express 5', express),
  expressFramework('Express 4', createRequire(import.meta.url)('express4') as typeof express),
  fastifyFramework,
  koaFramework,
  honoFramework,
  fetchFramework,
  nestExpress,
  nestFastify,
]
