import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../errors.ts'
import { problemOf, sendProblem } from './problem.ts'

/** Lets the server take every method that Node can read, so that it can answer for each of them. */
export function takeAllMethods(server: FastifyInstance): void {
  const missing = METHODS.filter((method) => method !== 'CONNECT' && !server.supportedMethods.includes(method))
  for (const method of missing) server.addHttpMethod(method)
}

/** 405 with the methods that a path does take, 404 where there is no such path. To be called before any route is added. */
export function answerUnknownRoutes(server: FastifyInstance): void {
  const methods = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set()
    for (const one of [method].flat()) known.add(one)
    methods.set(url, known)
  })

  server.setNotFoundHandler(async (request, reply) => {
    const path = request.url.replace(/\?.*$/s, '')
    const allowed = methods.get(path)
    if (allowed === undefined) {
      return sendProblem(reply, problemOf(new ServiceError('ERR_NOT_FOUND', 'there is no such path')))
    }
    const expected = [...allowed].join(', ')
    const error = new ServiceError('ERR_METHOD_NOT_ALLOWED', `method: expected ${expected}`, {
      field: 'method',
      expected,
    })
    return sendProblem(reply.header('allow', expected), problemOf(error))
  })
}
