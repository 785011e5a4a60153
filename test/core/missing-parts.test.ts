import { expect, test, vi } from 'vitest'
import type { Operation } from '../../lib/index.ts'
import { codeOf, ORDER, setUp } from './harness.ts'

vi.mock('../../lib/engine/commit-preparation.ts', () => {
  throw new Error('no such file')
})
vi.mock('../../lib/engine/suspend.ts', () => {
  throw new Error('no such file')
})
vi.mock('../../lib/steps/step-run.ts', () => {
  throw new Error('no such file')
})

test.each<[what: string, work: (operation: Operation) => unknown]>([
  ['a commit', ({ commit }) => commit('done')],
  ['a step', ({ step }) => step('charge', () => 'done')],
  ['a suspension', ({ wait }) => wait()],
])('%s that cannot be loaded has done nothing, and leaves the operation to be resumed', async (_what, work) => {
  const { idempotency, record } = setUp({ reconcilerShards: 1, reconcilerRecovers: true })

  expect(await codeOf(idempotency.run(ORDER, work))).toBe('STORE')
  expect(record()).toMatchObject({ status: 'RETRYABLE', steps: {} })

  const { value } = await idempotency.run(ORDER, () => 'another way')
  expect(value).toBe('another way')
})
