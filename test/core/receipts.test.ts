import { describe, expect, test } from 'vitest'
import { OutcomeNotRecordedError, RetryLater } from '../../lib/index.ts'
import { setUpCommits } from './commit-harness.ts'
import { codeOf, ORDER } from './harness.ts'

const NAME = { key: ORDER.key }

describe('the receipt of a commit', () => {
  test('is kept when the record is gone', async () => {
    const { idempotency, memory, record, clock } = setUpCommits()
    await idempotency.run(ORDER, ({ commit }) => commit('value', { receipt: { charge: 'ch_1' } }))
    const atMs = clock.now()
    memory.remove(record()?.id ?? '')
    clock.advance(10 * 366 * 86_400_000)
    expect(await idempotency.receipts(NAME)).toEqual([
      { kind: 'confirmed', value: { charge: 'ch_1' }, atMs, attempt: 1 },
    ])
  })

  test('is kept as long as the options say', async () => {
    const { idempotency, clock, receiptItems } = setUpCommits({ receiptRetentionSeconds: 3600 })
    await idempotency.run(ORDER, ({ commit }) => commit('value', { receipt: 'r' }))
    expect(await receiptItems()).toMatchObject([{ expiresAt: clock.now() / 1000 + 3600 }])
    clock.advance(3_599_000)
    expect(await idempotency.receipts(NAME)).toHaveLength(1)
    clock.advance(1_000)
    expect(await idempotency.receipts(NAME)).toEqual([])
  })

  test('keeps every kind of value, large ones too', async () => {
    const { idempotency } = setUpCommits()
    const receipt = { at: new Date(0), pages: Array.from({ length: 30_000 }, () => crypto.randomUUID()) }
    await idempotency.run(ORDER, ({ commit }) => commit('value', { receipt }))
    expect(await idempotency.receipts(NAME)).toMatchObject([{ value: receipt }])
  })

  test('is none of another operation or scope', async () => {
    const { idempotency } = setUpCommits()
    await idempotency.run({ ...ORDER, scope: 'a' }, ({ commit }) => commit('value', { receipt: 'a' }))
    expect(await idempotency.receipts(NAME)).toEqual([])
    expect(await idempotency.receipts({ ...NAME, scope: 'b' })).toEqual([])
    expect(await idempotency.receipts({ ...NAME, scope: 'a' })).toHaveLength(1)
  })
})

describe('the receipt of a step', () => {
  test('shows what the destination said before the operation is confirmed, and in the order of time', async () => {
    const { idempotency, clock } = setUpCommits()
    const attempt = () =>
      idempotency.run(ORDER, async ({ step, commit, attempt }) => {
        const charge = await step('charge', () => ({ id: 'ch_1', secret: 's' }), { receipt: ({ id }) => id })
        if (attempt === 1) throw new RetryLater()
        clock.advance(1)
        await step('mail', () => 'msg_1', { receipt: (id) => id })
        clock.advance(1)
        return commit('paid', { receipt: charge.id })
      })
    expect(await codeOf(attempt())).toBe('RETRY_LATER')
    expect(await idempotency.receipts(NAME)).toMatchObject([
      { kind: 'destination', value: 'ch_1', attempt: 1, step: 'charge' },
    ])
    await attempt()
    expect((await idempotency.receipts(NAME)).map(({ kind, step, attempt }) => [kind, step, attempt])).toEqual([
      ['destination', 'charge', 1],
      ['destination', 'mail', 2],
      ['confirmed', undefined, 2],
    ])
  })

  test('is made of what a probe has found out', async () => {
    const { idempotency, clock } = setUpCommits()
    const work = (result: () => unknown) =>
      idempotency.run({ ...ORDER, context: { getRemainingTimeInMillis: () => 10_000 } }, ({ step }) =>
        step('charge', result, {
          onUnknown: 'stop',
          probe: () => ({ kind: 'done', value: 'ch_probed' }),
          receipt: (id) => id,
        }),
      )
    void work(() => new Promise(() => undefined))
    await new Promise((resolve) => setTimeout(resolve))
    clock.advance(20_000)
    await work(() => 'ch_again')
    expect(await idempotency.receipts(NAME)).toMatchObject([{ value: 'ch_probed', step: 'charge' }])
  })

  test.each([undefined, null, '', 0, false])('of %s', async (value) => {
    const { idempotency } = setUpCommits()
    await idempotency.run(ORDER, ({ step }) => step('charge', () => 1, { receipt: () => value }))
    const receipts = await idempotency.receipts(NAME)
    expect(receipts.map((receipt) => receipt.value)).toEqual(value === undefined ? [] : [value])
  })

  test.each(['answer-lost', 'not-applied'] as const)('is written once when its write meets %s', async (fault) => {
    const { idempotency, record } = setUpCommits({}, { faults: { commit: [fault] } })
    let charges = 0
    await idempotency.run(ORDER, ({ step }) => step('charge', () => ++charges, { receipt: (n) => n }))
    expect(record()).toMatchObject({ status: 'COMPLETED', steps: { charge: { kind: 'done' } } })
    expect([charges, (await idempotency.receipts(NAME)).length]).toEqual([1, 1])
  })

  test('and the step are both not recorded when the store cannot be told', async () => {
    const { idempotency, record } = setUpCommits(
      {},
      { faults: { commit: Array.from({ length: 500 }, () => 'not-applied' as const) } },
    )
    const run = idempotency.run({ ...ORDER, context: { getRemainingTimeInMillis: () => 10_000 } }, ({ step }) =>
      step('charge', () => 1, { receipt: (n) => n }),
    )
    await expect(run).rejects.toBeInstanceOf(OutcomeNotRecordedError)
    expect(record()).toMatchObject({ status: 'IN_PROGRESS', steps: {} })
    expect(await idempotency.receipts(NAME)).toEqual([])
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new TypeError('no id')
      },
    ],
    ['gives what cannot be stored', () => ({ f: () => 1 })],
    ['gives a promise', async () => 'ch_1'],
  ])('function that %s does not undo the step: it is recorded, and told to the observer', async (_name, receipt) => {
    const { idempotency, record, events } = setUpCommits()
    let charges = 0
    const { value } = await idempotency.run(ORDER, ({ step }) => step('charge', () => ++charges, { receipt }))
    expect([value, charges]).toEqual([1, 1])
    expect(record()).toMatchObject({ status: 'COMPLETED', steps: { charge: { kind: 'done' } } })
    expect(events).toContainEqual(expect.objectContaining({ type: 'hook-failed', hook: 'receipt' }))
    expect(await idempotency.receipts(NAME)).toEqual([])
  })
})
