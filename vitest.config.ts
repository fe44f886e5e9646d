import { defineConfig } from 'vitest/config'

/**
 * Everything that `npm test` runs. Tests import `tidegate` as its users do, through the `exports` of
 * the built package; `npm test` builds first. Long runs are scripts of their own and never part of it.
 */
export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/conformance/**/*.test.ts',
      'bench/**/*.test.ts',
      'examples/**/*.test.ts',
      'scripts/**/*.test.{ts,mjs}',
    ],
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.slow.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    allowOnly: false,
    passWithNoTests: false,
    coverage: { provider: 'v8', include: ['packages/*/src/**/*.ts'], exclude: ['**/*.generated.ts', '**/*.test.ts'] },
  },
})
