import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/dynamodb-local.ts'],
    // Tests start real processes and talk to a real engine: forks keep them apart, two workers are what two cores carry.
    pool: 'forks',
    maxWorkers: 2,
    coverage: { enabled: false },
    // Generous, because nothing here measures time: a limit is only there to end a test that hangs.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    env: {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
  },
})
