import { SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import {
  invoker,
  orderEvent,
  RETENTION_SECONDS,
  useIdempotencyTable,
  useOrdersTable,
  usePaymentsQueue,
} from './service.ts'

const emulator = await startSqsEmulator()
afterAll(() => emulator.stop())
await useIdempotencyTable()
const orders = await useOrdersTable()
const queue = await usePaymentsQueue(emulator.endpoint)
const invoke = invoker((await import('../../functions/orders-api.ts')).handler)

const item = { sku: 'book', quantity: 2, unitPriceCents: 1_250 }
/** An order of a customer nobody else is: its row is found by it. */
const newOrder = () => ({ customerId: `customer-${crypto.randomUUID()}`, items: [item], currency: 'EUR' })

type Answer = APIGatewayProxyStructuredResultV2
const post = (request: Parameters<typeof orderEvent>[0]): Promise<Answer> => invoke(orderEvent(request))
const rowsOf = async ({ customerId }: { customerId: string }) =>
  (await orders.rows()).filter((row) => row.customerId === customerId)
const parsed = ({ body = '' }: Answer) => JSON.parse(body)
const withoutMark = ({ headers = {}, ...answer }: Answer) => {
  const { 'Idempotent-Replayed': _, 'Access-Control-Expose-Headers': __, ...others } = headers
  return { ...answer, headers: others }
}

beforeEach(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(console, 'error').mockReturnValue()
  await queue.receive()
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('an order', () => {
  test('becomes a row, a payment and a 201 that says where it is', async () => {
    const order = newOrder()
    const answer = await post({ key: crypto.randomUUID(), body: order })
    const { orderId } = parsed(answer)
    expect(answer).toMatchObject({ statusCode: 201, headers: { Location: `/orders/${orderId}` } })
    expect(parsed(answer)).toEqual({
      orderId: expect.stringMatching(/^ord_[0-9a-f]{32}$/),
      totalCents: 2_500,
      currency: 'EUR',
      status: 'pending',
    })
    expect(await rowsOf(order)).toEqual([
      {
        ...order,
        orderId,
        totalCents: 2_500,
        status: 'pending',
        createdAt: expect.any(String),
        paymentRequestedAt: expect.any(String),
      },
    ])
    const [message, ...others] = await queue.receive()
    expect(others).toEqual([])
    expect(JSON.parse(message?.Body ?? '')).toEqual({
      orderId,
      customerId: order.customerId,
      amountCents: 2_500,
      currency: 'EUR',
    })
    expect(message?.MessageAttributes?.['Idempotency-Key']?.StringValue).toBe(orderId)
  })

  test('posted again is answered the same, without a second row or payment', async () => {
    const [key, order] = [crypto.randomUUID(), newOrder()]
    const first = await post({ key, body: order })
    const again = await post({ key, body: order })
    expect(again.headers).toMatchObject({ 'Idempotent-Replayed': 'true' })
    expect(withoutMark(again)).toEqual(withoutMark(first))
    expect(await rowsOf(order)).toHaveLength(1)
    expect(await queue.receive()).toHaveLength(1)
  })

  test('posted by ten impatient clients at once is placed once', async () => {
    const [key, order] = [crypto.randomUUID(), newOrder()]
    const answers = await Promise.all(Array.from({ length: 10 }, () => post({ key, body: order })))
    const created = answers.filter(({ statusCode }) => statusCode === 201)
    expect(answers.filter(({ statusCode }) => statusCode !== 201 && statusCode !== 409)).toEqual([])
    expect(new Set(created.map(({ body }) => body)).size).toBe(1)
    expect(await rowsOf(order)).toHaveLength(1)
    expect(await queue.receive()).toHaveLength(1)
  })

  test('of another caller under the same key is another order', async () => {
    const [key, order] = [crypto.randomUUID(), newOrder()]
    const alices = parsed(await post({ key, body: order, caller: 'alice' }))
    const bobs = parsed(await post({ key, body: order, caller: 'bob' }))
    expect(alices.orderId).not.toBe(bobs.orderId)
    expect(await rowsOf(order)).toHaveLength(2)
  })

  test('may come in base64', async () => {
    const order = newOrder()
    expect(await post({ key: crypto.randomUUID(), body: order, base64: true })).toMatchObject({ statusCode: 201 })
    expect(await rowsOf(order)).toHaveLength(1)
  })
})

describe('a request that is refused', () => {
  test('without a key: 400, nothing happens', async () => {
    const order = newOrder()
    expect(await post({ body: order })).toMatchObject({ statusCode: 400 })
    expect(await rowsOf(order)).toEqual([])
    expect(await queue.receive()).toEqual([])
  })

  test('with another body under the same key: 422, the first order stands', async () => {
    const [key, order] = [crypto.randomUUID(), newOrder()]
    const first = await post({ key, body: order })
    expect(await post({ key, body: { ...order, currency: 'USD' } })).toMatchObject({ statusCode: 422 })
    expect(withoutMark(await post({ key, body: order }))).toEqual(withoutMark(first))
    expect(await rowsOf(order)).toMatchObject([{ currency: 'EUR' }])
    expect(await queue.receive()).toHaveLength(1)
  })

  const order = newOrder()
  test.each([
    ['no body', undefined, ''],
    ['a body that is cut off', '{"customerId":', ''],
    ['no customer', { ...order, customerId: undefined }, 'customerId'],
    ['no items', { ...order, items: [] }, 'items'],
    ['a negative quantity', { ...order, items: [item, { ...item, quantity: -1 }] }, 'items.1.quantity'],
    ['a piece and a half', { ...order, items: [{ ...item, quantity: 1.5 }] }, 'items.0.quantity'],
    ['a price as text', { ...order, items: [{ ...item, unitPriceCents: '1' }] }, 'items.0.unitPriceCents'],
    ['a price beyond counting', { ...order, items: [{ ...item, unitPriceCents: 1e300 }] }, 'items.0.unitPriceCents'],
    ['a currency nobody takes', { ...order, currency: 'XXX' }, 'currency'],
    ['a field nobody knows', { ...order, discount: 1 }, 'discount'],
  ])('with %s: 400 that names the field, and the corrected order goes through under its key', async (_, body, path) => {
    const key = crypto.randomUUID()
    const refused = await post({ key, body })
    expect(refused).toMatchObject({ statusCode: 400, headers: { 'Content-Type': 'application/problem+json' } })
    expect(parsed(refused)).toMatchObject({ status: 400, errors: [{ path, detail: expect.any(String) }] })
    expect(await queue.receive()).toEqual([])

    const corrected = newOrder()
    expect(await post({ key, body: corrected })).toMatchObject({ statusCode: 201 })
    expect(await rowsOf(corrected)).toHaveLength(1)
    expect(await queue.receive()).toHaveLength(1)
  })
})

describe('an order that was interrupted', () => {
  test('before its payment was sent: 503, and the next try places it once', async () => {
    const [key, order] = [crypto.randomUUID(), newOrder()]
    vi.spyOn(SQSClient.prototype, 'send').mockImplementationOnce(() => Promise.reject(new Error('SQS is away')))
    const interrupted = await post({ key, body: order })
    expect(interrupted).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } })
    expect(await rowsOf(order)).toHaveLength(1)
    expect(await queue.receive()).toEqual([])

    expect(await post({ key, body: order })).toMatchObject({ statusCode: 201 })
    expect(await rowsOf(order)).toHaveLength(1)
    expect(await queue.receive()).toHaveLength(1)
  })

  test('after its payment was sent: the next try sends a repetition of the same payment', async () => {
    const [key, order] = [crypto.randomUUID(), newOrder()]
    const send = SQSClient.prototype.send as (this: SQSClient, command: unknown) => Promise<unknown>
    vi.spyOn(SQSClient.prototype, 'send').mockImplementationOnce(async function (this: SQSClient, command: unknown) {
      await send.call(this, command)
      throw new Error('The answer was lost')
    })
    expect(await post({ key, body: order })).toMatchObject({ statusCode: 503 })
    expect(await post({ key, body: order })).toMatchObject({ statusCode: 201 })
    expect(await rowsOf(order)).toHaveLength(1)
    const bodies = (await queue.receive()).map(({ Body }) => Body)
    expect(bodies).toEqual([bodies[0], bodies[0]])
  })

  test('before it was noted that its payment was sent: the next try sends the same payment and notes it', async () => {
    const [key, order] = [crypto.randomUUID(), newOrder()]
    interruptNote()
    expect(await post({ key, body: order })).toMatchObject({ statusCode: 503 })
    expect(await rowsOf(order)).toEqual([expect.not.objectContaining({ paymentRequestedAt: expect.anything() })])
    expect(await post({ key, body: order })).toMatchObject({ statusCode: 201 })
    expect(await rowsOf(order)).toMatchObject([{ paymentRequestedAt: expect.any(String) }])
    const bodies = (await queue.receive()).map(({ Body }) => Body)
    expect(bodies).toEqual([bodies[0], bodies[0]])
  })

  test('keeps the time at which its row was made', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 1) })
    const [key, order] = [crypto.randomUUID(), newOrder()]
    vi.spyOn(SQSClient.prototype, 'send').mockImplementationOnce(() => Promise.reject(new Error('SQS is away')))
    await post({ key, body: order })
    vi.setSystemTime(Date.UTC(2030, 0, 1, 12))
    expect(await post({ key, body: order })).toMatchObject({ statusCode: 201 })
    expect(await rowsOf(order)).toMatchObject([{ createdAt: '2030-01-01T00:00:00.000Z' }])
  })
})

/** The next update of a document, which is the note that a payment was sent, does not arrive. */
function interruptNote(): void {
  const send = DynamoDBDocumentClient.prototype.send as (command: unknown) => Promise<unknown>
  let isOver = false
  vi.spyOn(DynamoDBDocumentClient.prototype, 'send').mockImplementation(async function (
    this: DynamoDBDocumentClient,
    command: unknown,
  ) {
    const isNote = command instanceof UpdateCommand && command.input.TableName === process.env.ORDERS_TABLE
    if (isOver || !isNote) return send.call(this, command)
    isOver = true
    throw new Error('The table is away')
  })
}

describe('a key that comes again after its retention', () => {
  const afterRetention = () => vi.setSystemTime(Date.now() + (RETENTION_SECONDS + 60) * 1_000)

  test('for the same order meets its row', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const [key, order] = [crypto.randomUUID(), newOrder()]
    const first = await post({ key, body: order })
    await queue.receive()
    afterRetention()
    expect(await post({ key, body: order })).toEqual(first)
    expect(await rowsOf(order)).toHaveLength(1)
    // The worker and the provider have forgotten the first payment by now, too: another message is another charge.
    expect(await queue.receive()).toEqual([])
  })

  test('for an order whose payment was sent, or not, without a note of it: 409, nothing is sent, until it is looked up', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const [key, order] = [crypto.randomUUID(), newOrder()]
    interruptNote()
    await post({ key, body: order })
    await queue.receive()
    afterRetention()
    for (let time = 1; time <= 2; time++) {
      const answer = await post({ key, body: order })
      expect(answer).toMatchObject({ statusCode: 409, headers: { 'Content-Type': 'application/problem+json' } })
      expect(answer.headers).not.toHaveProperty('Idempotent-Replayed')
    }
    expect(await queue.receive()).toEqual([])

    const [row] = await rowsOf(order)
    await orders.note(String(row?.orderId))
    expect(await post({ key, body: order })).toMatchObject({ statusCode: 201 })
    expect(await queue.receive()).toEqual([])
  })

  test('for another order never overwrites the first one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const [key, order] = [crypto.randomUUID(), newOrder()]
    await post({ key, body: order })
    await queue.receive()
    afterRetention()
    expect(await post({ key, body: { ...order, currency: 'USD' } })).toMatchObject({ statusCode: 422 })
    expect(await rowsOf(order)).toMatchObject([{ currency: 'EUR' }])
    expect(await queue.receive()).toEqual([])
  })
})
