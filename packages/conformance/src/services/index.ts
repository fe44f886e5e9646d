/** Real programs for tests and benchmarks: each on a free port of loopback, in a folder of its own, ended by its own pid. */
export { findPart, howToInstall, type Part } from './parts.ts'
export { startRedis, startValkey } from './redis.ts'
export { startRedisCluster } from './redis-cluster.ts'
export { freePort, type Service, temporaryFolder } from './service.ts'
export { startTidegate } from './tidegate.ts'
