export type { BreakerOptions, GuardOptions } from '../../resilience/guard-options.ts'
export type { GuardedStore, GuardState } from '../../resilience/guard-state.ts'
export type { Fetch } from './exchange.ts'
export { type RemoteStoreOptions, remoteStore } from './remote-store.ts'
export { type StoreService, type StoreServiceOptions, storeService } from './store-service.ts'
export type {
  OperationName,
  WireAdmission,
  WireAnswer,
  WireCheck,
  WireError,
  WireFigures,
  WireOperation,
  WireRequest,
  WireResponse,
  WireRule,
} from './wire.ts'
