import type { FastifyInstance } from 'fastify'
import type { RuleOptions } from 'tidegate'
import type { ServiceEvent } from '../events/service-event.ts'

/** Where a service listens. */
export interface Addresses {
  readonly http: string
  readonly grpc: string | undefined
}

/** The processes that are one service together, as one of them sees them. */
export interface Fleet {
  /** Rules that were put over HTTP before this process came; undefined where those of the file are served. */
  rules(): Promise<RuleOptions[] | undefined>
  /** Has a service listen. Resolves to the URL. @throws ServiceError `ERR_CANNOT_LISTEN` */
  listen(service: FastifyInstance, host: string, port: number): Promise<string>
  /** Says that this process serves. */
  listens(addresses: Addresses): void
  /** What all of them have measured, in the text format of Prometheus. */
  metrics(): Promise<string>
  /** Has all the others serve these rules. Resolves when they do. */
  shareRules(rules: RuleOptions[]): Promise<void>
  /** Calls back where another one has got rules, or all are to read their file again. */
  onRules(listener: (rules: RuleOptions[]) => void): void
  onReload(listener: () => void): void
  /** Tells all the others of an event. */
  shareEvent(event: ServiceEvent): void
  onEvent(listener: (event: ServiceEvent) => void): void
  /** Resolves when all are to end. */
  readonly ended: Promise<string>
  /** Resolves when this process, which is to end, gets no more connections. */
  readonly unlistened: Promise<void>
  /** Ends the connections that it has been handed; what is in flight has so many ms. */
  closeConnections(patienceMs: number): Promise<void>
  /** Lets this process end. */
  leave(): void
}
