import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The examination of the built package, which `npm test` leaves out: it needs a build, and the consumers a registry. */
export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: ['test/package/*.check.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
