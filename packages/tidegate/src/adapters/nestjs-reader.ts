import type { ArgumentsHost, ExecutionContext } from '@nestjs/common'
import { type NodeRequest, type NodeResponse, nodeHeader, pathOf } from '../http/node-exchange.ts'
import type { RequestReader } from '../http/request-options.ts'

/** What is needed of a request of Express or Fastify. */
export interface NestRequest extends NodeRequest {
  readonly raw?: NodeRequest
  readonly ip?: string | undefined
  /** Fastify: only where it trusts a proxy. */
  readonly ips?: readonly string[] | undefined
  readonly routeOptions?: { readonly url?: string | undefined }
  /** Express. */
  readonly app?: { get(setting: 'trust proxy'): unknown }
  readonly originalUrl?: string
  readonly baseUrl?: string
  readonly route?: { readonly path?: unknown }
}

/** What is needed of a response of Express or a reply of Fastify. */
export interface NestResponse {
  readonly raw?: NodeResponse
  header(name: string, value: string): unknown
  status(code: number): { send(body: string): unknown }
}

/** Where neither `trustProxy` nor the framework's own setting believes a proxy, nobody is believed. */
export const reader: RequestReader<ExecutionContext> = {
  peer: (context) => rawRequest(context).socket?.remoteAddress,
  ip: (context) => {
    const request = requestOf(context)
    const trusts = isFastify(request) ? request.ips !== undefined : (request.app?.get('trust proxy') ?? false) !== false
    return trusts ? request.ip : undefined
  },
  believesEverybody: (context) => requestOf(context).app?.get('trust proxy') === true,
  header: (context, name) => nodeHeader(requestOf(context), name),
  method: (context) => requestOf(context).method ?? 'GET',
  route: (context) => routeOf(requestOf(context)),
  dimensions: (context) => ({ controller: context.getClass().name }),
  identity: rawRequest,
}

/** The response that a guard sets headers on. */
export function responseOf(context: ArgumentsHost): NestResponse {
  return context.switchToHttp().getResponse<NestResponse>()
}

/** The response of Node beneath. */
export function rawResponse(response: NestResponse): NodeResponse {
  return response.raw ?? (response as unknown as NodeResponse)
}

function requestOf(context: ExecutionContext): NestRequest {
  return context.switchToHttp().getRequest<NestRequest>()
}

function rawRequest(context: ExecutionContext): NodeRequest {
  const request = requestOf(context)
  return request.raw ?? request
}

function isFastify({ raw }: NestRequest): boolean {
  return raw !== undefined
}

function routeOf(request: NestRequest): string {
  const { routeOptions, route, baseUrl = '', originalUrl, url } = request
  if (isFastify(request)) return routeOptions?.url ?? pathOf(url)
  return typeof route?.path === 'string' ? `${baseUrl}${route.path}` : pathOf(originalUrl ?? url)
}
