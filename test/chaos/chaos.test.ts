import { expect, inject, test } from 'vitest'
import { runChaos } from './chaos.ts'

test('under kill -9, freezes past the lease and a faulty network no message is lost and no effect doubled', async () => {
  const report = await runChaos({ messages: 72, seed: 7, dynamoDbEndpoint: inject('dynamoDbEndpoint') })
  const { lost, chargedTwice, mailedTwice, committedTwice, missingEffects } = report
  expect({ lost, chargedTwice, mailedTwice, committedTwice, missingEffects }).toEqual({
    lost: [],
    chargedTwice: [],
    mailedTwice: [],
    committedTwice: [],
    missingEffects: [],
  })
  expect(report.completed + report.unknown).toBe(72)
  // Otherwise it was no chaos.
  expect(report.kills).toBeGreaterThan(0)
  expect(report.faults).toBeGreaterThan(0)
})
