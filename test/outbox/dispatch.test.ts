import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../lib/memory/index.ts'
import { dispatchOne, type OutgoingMessage, type SendResult } from '../../lib/outbox/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { faultyStore } from '../core/faulty-store.ts'
import { itemOf } from './set-up.ts'

const clock = fakeClock()

function senderThat(...results: SendResult[]) {
  const sent: OutgoingMessage[] = []
  return {
    sent,
    async send(messages: readonly OutgoingMessage[]) {
      sent.push(...messages)
      return results
    },
  }
}

async function setUp(attributes: Record<string, unknown> = {}) {
  const store = memoryStore()
  const item = await itemOf({ attributes })
  await store.putBeside(item.id, item)
  const look = async () => (await store.listBeside(item.id, item.sk))[0]?.attributes
  return { store, item, look }
}

describe('one item of the outbox', () => {
  test('is sent and marked', async () => {
    const { store, item, look } = await setUp()
    const sender = senderThat({ kind: 'sent' })
    expect(await dispatchOne(store, sender, item, { clock, dispatchedRetentionSeconds: 10 })).toEqual({
      kind: 'dispatched',
    })
    expect(sender.sent).toMatchObject([{ messageId: 'payments#1/t1/0', operationId: 'payments#1' }])
    expect(await look()).toMatchObject({ state: 'dispatched', expiresAt: clock.now() / 1000 + 10 })
  })

  test('is not sent again when it is marked as sent', async () => {
    const { store, item } = await setUp({ state: 'dispatched' })
    const sender = senderThat({ kind: 'sent' })
    expect(await dispatchOne(store, sender, item, { clock })).toEqual({ kind: 'overtaken' })
    expect(sender.sent).toEqual([])
  })

  test('stays as it is when it cannot be sent, or the mark is not written', async () => {
    const { store, item, look } = await setUp()
    const error = new Error('down')
    expect(await dispatchOne(store, senderThat({ kind: 'failed', error }), item)).toEqual({ kind: 'failed', error })
    const faulty = faultyStore(store, { updateBeside: ['not-applied'] })
    expect(await dispatchOne(faulty, senderThat({ kind: 'sent' }), item)).toMatchObject({
      kind: 'failed',
      error: { code: 'STORE' },
    })
    expect(await dispatchOne(store, senderThat(), item)).toMatchObject({ kind: 'failed' })
    expect(await look()).toEqual(item.attributes)
  })

  test('is marked by one of two who send it at the same time', async () => {
    const { store, item } = await setUp()
    const both = [1, 2].map(() => dispatchOne(store, senderThat({ kind: 'sent' }), item, { clock }))
    expect((await Promise.all(both)).map(({ kind }) => kind).toSorted()).toEqual(['dispatched', 'overtaken'])
  })

  test('is stuck when it cannot be read', async () => {
    const { store, item, look } = await setUp({ to: undefined })
    expect(await dispatchOne(store, senderThat(), item, { clock })).toEqual({
      kind: 'stuck',
      reason: 'InvalidInputError',
    })
    expect(await look()).toMatchObject({ state: 'stuck', stuckReason: 'InvalidInputError' })
  })

  test('needs options that are right', async () => {
    const { store, item } = await setUp()
    await expect(dispatchOne(store, senderThat(), item, { retries: 3 } as never)).rejects.toThrow('no option "retries"')
    await expect(
      dispatchOne(store, senderThat(), item, { dispatchedRetentionSeconds: Number.NaN }),
    ).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})
