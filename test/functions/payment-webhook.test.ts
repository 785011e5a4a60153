import { createHmac } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PAYMENTS_SCOPE } from '../../functions/shared/idempotency.ts'
import { isSigned } from '../../functions/webhook/signature.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency } from '../../lib/index.ts'
import { invoker, useIdempotencyTable } from './service.ts'

const SECRET = 'the-secret-of-the-test'
process.env.PAYMENT_WEBHOOK_SECRET = SECRET
await useIdempotencyTable()
const invoke = invoker((await import('../../functions/payment-webhook.ts')).handler)
// The test plays the payments worker without its queue, whose messages would continue the payment.
const payments = createIdempotency({
  store: dynamoStore({ tableName: process.env.IDEMPOTENCY_TABLE ?? '' }),
  namespace: 'payments',
  reconcilerShards: 1,
  reconcilerRecovers: true,
})

const nowSeconds = () => Math.floor(Date.now() / 1_000)
const sign = (body: string, { secret = SECRET, seconds = nowSeconds() } = {}) =>
  `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
const post = (body: string, signature: string | undefined = sign(body), base64 = false) =>
  invoke({
    headers: { 'content-type': 'application/json', ...(signature && { 'payment-signature': signature }) },
    body: base64 ? Buffer.from(body).toString('base64') : body,
    isBase64Encoded: base64,
  } as unknown as APIGatewayProxyEventV2)

const charge = { chargeId: 'ch_1', status: 'succeeded', version: 2 }
/** An event about an order. */
const event = (orderId: string, changes: object = {}) =>
  JSON.stringify({ id: `evt_${crypto.randomUUID()}`, orderId, charge, ...changes })

/** A payment that waits for its callback; `told` is what it finds when it is continued. */
async function waitingPayment() {
  const orderId = `order-${crypto.randomUUID()}`
  const name = { key: orderId, scope: PAYMENTS_SCOPE }
  await expect(payments.run({ ...name, fingerprint: false }, (operation) => operation.wait())).rejects.toMatchObject({
    code: 'WAITING',
  })
  const told = async () => {
    const { value } = await payments.run({ ...name, fingerprint: false }, (operation) => operation.signals())
    return value
  }
  return { orderId, told }
}

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(console, 'error').mockReturnValue()
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe('an event of the provider', () => {
  test.each([false, true])('wakes the payment that waits for it (base64: %s)', async (base64) => {
    const { orderId, told } = await waitingPayment()
    const body = event(orderId)
    expect(await post(body, sign(body), base64)).toEqual({ statusCode: 204 })
    expect(await told()).toEqual([charge])
  })

  test('that comes again, even five times at once, is handed on once', async () => {
    const { orderId, told } = await waitingPayment()
    const body = event(orderId)
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(body)))
    expect(answers.map(({ statusCode }) => statusCode)).toContain(204)
    expect(await post(body)).toEqual({ statusCode: 204 })
    expect(await told()).toEqual([charge])
  })

  test('that is older than one before it is handed on, too: the payment tells them apart', async () => {
    const { orderId, told } = await waitingPayment()
    const older = { ...charge, status: 'pending', version: 1 }
    await post(event(orderId))
    expect(await post(event(orderId, { charge: older }))).toEqual({ statusCode: 204 })
    expect(await told()).toEqual([charge, older])
  })

  test('that comes after the end of its payment is taken, and changes nothing', async () => {
    const { orderId, told } = await waitingPayment()
    await post(event(orderId))
    const before = await told()
    expect(await post(event(orderId))).toEqual({ statusCode: 204 })
    expect(await told()).toEqual(before)
  })

  test('about a payment nobody knows is to come again, and is taken when the payment is there', async () => {
    const body = event('order-of-nobody')
    for (let time = 1; time <= 2; time++) expect(await post(body)).toEqual({ statusCode: 503 })
    const name = { key: 'order-of-nobody', scope: PAYMENTS_SCOPE }
    await payments.run({ ...name, fingerprint: false }, (operation) => operation.wait()).catch(() => undefined)
    expect(await post(body)).toEqual({ statusCode: 204 })
  })

  test('whose handing on was interrupted is handed on by the next one, once', async () => {
    const { orderId, told } = await waitingPayment()
    const body = event(orderId)
    const send = DynamoDBClient.prototype.send as (this: DynamoDBClient, command: unknown) => Promise<unknown>
    let transactions = 0
    vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(async function (
      this: DynamoDBClient,
      command: unknown,
    ) {
      const answer = await send.call(this, command)
      // The signal is stored, and the event's own record is not completed.
      const isCompletion = JSON.stringify(Reflect.get(Object(command), 'input') ?? {}).includes('COMPLETED')
      if (isCompletion && transactions++ === 0)
        throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })
      return answer
    })
    await post(body)
    vi.mocked(DynamoDBClient.prototype.send).mockRestore()
    expect(await post(body)).toEqual({ statusCode: 204 })
    expect(await told()).toEqual([charge])
  })

  test('under the id of another one is refused', async () => {
    const { orderId, told } = await waitingPayment()
    await post(event(orderId, { id: 'evt_1' }))
    const other = event(orderId, { id: 'evt_1', charge: { ...charge, version: 3 } })
    expect(await post(other)).toEqual({ statusCode: 422 })
    expect(await told()).toEqual([charge])
  })
})

describe('a request that is no event of the provider costs no call of the store', () => {
  const body = event('order-1')
  const refused = async (answer: Promise<unknown>, statusCode: number) => {
    const calls = vi.spyOn(DynamoDBClient.prototype, 'send')
    expect(await answer).toEqual({ statusCode })
    expect(calls).not.toHaveBeenCalled()
  }

  test.each([
    ['no signature', ''],
    ['another secret', sign(body, { secret: 'other' })],
    ['a signature of another body', sign(`${body} `)],
    ['no hex', 't=1,v1=zz'],
    ['half a signature', sign(body).slice(0, -2)],
    ['a signature of long ago', sign(body, { seconds: nowSeconds() - 3_600 })],
    ['a signature of the future', sign(body, { seconds: nowSeconds() + 3_600 })],
  ])('with %s: 401', (_, signature) => refused(post(body, signature), 401))

  test.each([
    ['no JSON', '{'],
    ['no id', event('order-1', { id: '' })],
    ['no order', event('')],
    ['a status nobody knows', event('order-1', { charge: { ...charge, status: 'lost' } })],
    ['no body', ''],
  ])('with %s: 400', (_, text) => refused(post(text), 400))
})

describe('a signature', () => {
  const body = Buffer.from('{"a":1}')
  const at = (seconds: number) => sign(body.toString(), { seconds })

  test.each([
    [-300, true],
    [0, true],
    [300, true],
    [-301, false],
    [301, false],
  ])('made %i s from now counts: %s', (offset, expected) => {
    expect(isSigned(SECRET, at(1_000 + offset), body, 1_000_000)).toBe(expected)
  })

  test('is of the bytes as they came', () => {
    expect(isSigned(SECRET, at(1_000), Buffer.from('{"a": 1}'), 1_000_000)).toBe(false)
  })
})
