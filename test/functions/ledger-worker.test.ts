import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { OrderPaid } from '../../functions/shared/payment.ts'
import { batchOf, invoker, messageOf, useIdempotencyTable, useTable } from './service.ts'

await useIdempotencyTable()
const balances = await useTable('BALANCES_TABLE', { account: 'S' })
const invoke = invoker((await import('../../functions/ledger-worker.ts')).handler)

const success = { batchItemFailures: [] }
let account: string
let lines: string
const paid = (sequence: number, balanceCents: number): OrderPaid => ({
  orderId: `order-${sequence}`,
  account,
  sequence,
  balanceCents,
})
/** A delivery of a FIFO queue, of a message that the relay has sent under an id of its own. */
const delivery = (body: unknown, id: string = crypto.randomUUID()) => {
  const message = messageOf(body)
  return {
    ...message,
    eventSourceARN: `${message.eventSourceARN}.fifo`,
    attributes: { ...message.attributes, MessageGroupId: account },
    messageAttributes: { 'Idempotency-Key': { dataType: 'String' as const, stringValue: id } },
  }
}
const deliver = (...bodies: unknown[]) => invoke(batchOf(...bodies.map((body) => delivery(body))))
const balance = async () => (await balances.rows()).find((row) => row.account === account)

beforeEach(() => {
  account = `customer-${crypto.randomUUID()}:EUR`
  lines = ''
  vi.spyOn(console, 'error').mockReturnValue()
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines += String(text)
    return true
  })
})

describe('a balance', () => {
  test('is what the newest payment says', async () => {
    expect(await deliver(paid(1, 100), paid(2, 350))).toEqual(success)
    expect(await balance()).toEqual({ account, balanceCents: 350, sequence: 2, lastOrderId: 'order-2' })
  })

  test('is not overwritten by an older one that comes late, which is acknowledged and noted', async () => {
    await deliver(paid(3, 900))
    expect(await deliver(paid(2, 350))).toEqual(success)
    expect(await balance()).toMatchObject({ balanceCents: 900, sequence: 3 })
    expect(lines).toContain('"skippedWrites":[0]')
  })

  test('is right in whatever order the payments come, and with some missing', async () => {
    for (const [sequence, cents] of [
      [2, 350],
      [5, 1_200],
      [1, 100],
      [4, 1_000],
    ] as const)
      await deliver(paid(sequence, cents))
    expect(await balance()).toMatchObject({ balanceCents: 1_200, sequence: 5 })
  })

  test('is written once for a message that is delivered twice', async () => {
    const message = () => delivery(paid(1, 100), 'message-1')
    expect(await invoke(batchOf(message()))).toEqual(success)
    expect(await invoke(batchOf(message()))).toEqual(success)
    expect(lines.match(/"event":"completed"/g)).toHaveLength(1)
    expect(lines).toContain('"event":"replayed"')
  })
})

test.each([
  ['no JSON', '{"account":'],
  ['no account', { orderId: 'o', sequence: 1, balanceCents: 1 }],
  ['a place that is none', { orderId: 'o', account: 'a', sequence: 0, balanceCents: 1 }],
  ['half a cent', { orderId: 'o', account: 'a', sequence: 1, balanceCents: 0.5 }],
])('a message with %s fails', async (_, body) => {
  const message = delivery(body)
  expect(await invoke(batchOf(message))).toEqual({ batchItemFailures: [{ itemIdentifier: message.messageId }] })
})
