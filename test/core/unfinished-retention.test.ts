import { describe, expect, test } from 'vitest'
import { createIdempotency, RetryLater } from '../../lib/index.ts'
import { ORDER, setUp } from './harness.ts'

const DAY_SECONDS = 86_400
const resumeLater = () => {
  throw new RetryLater('not now')
}

describe('an unfinished operation is kept', () => {
  test.each([
    ['14 days by default', {}, 14],
    ['as long as a finished one, where that is longer', { retentionSeconds: 22 * DAY_SECONDS }, 22],
    ['as long as is said', { retentionSeconds: 22 * DAY_SECONDS, unfinishedRetentionSeconds: 2 * DAY_SECONDS }, 2],
  ])('%s', async (_what, options, days) => {
    const { idempotency, clock, record } = setUp(options)
    await expect(idempotency.run(ORDER, resumeLater)).rejects.toThrow('not now')
    expect(record()?.expiresAt).toBe(Math.ceil(clock.now() / 1000) + days * DAY_SECONDS)
  })

  test('no shorter than its application keeps it, when an operator with other options resumes it', async () => {
    const { idempotency, memory, clock, record } = setUp({ retentionSeconds: 22 * DAY_SECONDS })
    await expect(idempotency.run(ORDER, resumeLater)).rejects.toThrow('not now')
    const before = record()?.expiresAt
    const operator = createIdempotency({ store: memory, clock, namespace: 'payments' })
    expect(await operator.settle({ key: ORDER.key }, { rerun: true })).toBe('settled')
    expect(record()?.expiresAt).toBe(before)
  })

  test('as any other, once an operator has resumed one that was never to expire', async () => {
    const { idempotency, clock, record } = setUp()
    const charge = () =>
      idempotency.run(ORDER, ({ step }) =>
        step(
          'charge',
          () => {
            throw new Error('no answer')
          },
          { onUnknown: 'stop' },
        ),
      )
    await expect(charge()).rejects.toThrow()
    await expect(charge()).rejects.toThrow()
    expect(record()).toMatchObject({ status: 'UNKNOWN' })
    expect(record()?.expiresAt).toBeUndefined()
    expect(await idempotency.settle({ key: ORDER.key }, { rerun: true })).toBe('settled')
    expect(record()?.expiresAt).toBe(Math.ceil(clock.now() / 1000) + 14 * DAY_SECONDS)
  })
})
