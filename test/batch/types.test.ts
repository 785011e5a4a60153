import middy from '@middy/core'
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { type BatchRecord, batchHandler, eachRecord, idempotentBatch } from '../../lib/batch/index.ts'
import { createIdempotency, type Operation } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'

const idempotency = createIdempotency({ store: memoryStore(), namespace: 'payments' })
const Order = v.object({ orderId: v.string(), amount: v.number() })
type Order = v.InferOutput<typeof Order>

describe('what a user writes', () => {
  test('gets the schema’s output in the key selector and in the handler, without annotations', () => {
    const payments = idempotentBatch({
      idempotency,
      key: (record) => {
        expectTypeOf(record).toEqualTypeOf<BatchRecord<Order>>()
        return record.body.orderId
      },
      schema: Order,
    })
    const handler = middy()
      .use(payments)
      .handler(
        payments.eachRecord(async (record, operation, context) => {
          expectTypeOf(record.body).toEqualTypeOf<Order>()
          expectTypeOf(record.rawBody).toEqualTypeOf<string>()
          expectTypeOf(operation).toEqualTypeOf<Operation>()
          expectTypeOf(context).toEqualTypeOf<Context>()
        }),
      )
    expectTypeOf(handler).parameter(0).toEqualTypeOf<SQSEvent>()
    expect(handler).toBeTypeOf('function')
  })

  test('is held to the type it names', () => {
    middy()
      .use(idempotentBatch({ idempotency, schema: Order, key: ({ body }) => body.orderId }))
      .handler(
        eachRecord<Order>(async ({ body }) => {
          expectTypeOf(body).toEqualTypeOf<Order>()
        }),
      )
    middy()
      .use(idempotentBatch({ idempotency }))
      // @ts-expect-error nobody has said that it is an order
      .handler(eachRecord<Order>(async () => undefined))
  })

  test('gets what the parser makes', () => {
    const handler = batchHandler(
      {
        idempotency,
        parse: (text) => text.length,
        key: (record) => record.body,
      },
      (record) => {
        expectTypeOf(record.body).toEqualTypeOf<number>()
      },
    )
    expectTypeOf(handler).parameter(0).toEqualTypeOf<SQSEvent>()
    expect(handler).toBeTypeOf('function')
  })

  test('has an unknown body until somebody says what it is', () => {
    batchHandler({ idempotency }, (record) => {
      expectTypeOf(record.body).toEqualTypeOf<unknown>()
      // @ts-expect-error nobody has looked at the body
      return record.body.orderId
    })
    batchHandler<Order>({ idempotency, key: ({ body }) => body.orderId }, ({ body }) => {
      expectTypeOf(body).toEqualTypeOf<Order>()
    })
    middy()
      .use(idempotentBatch({ idempotency }))
      .handler(
        eachRecord((record) => {
          expectTypeOf(record.body).toEqualTypeOf<unknown>()
        }),
      )
  })

  test('may say the type of the record where it is a function of its own', () => {
    const charge = async (record: BatchRecord<Order>, operation: Operation) => [record.body.amount, operation.key]
    middy()
      .use(idempotentBatch({ idempotency, schema: Order }))
      .handler(eachRecord(charge))
    middy()
      .use(idempotentBatch({ idempotency, schema: v.object({ other: v.string() }) }))
      // @ts-expect-error the handler wants another body
      .handler(eachRecord(charge))
  })

  test('sees the message’s own attributes, and not the parsed body, in the hooks', () => {
    batchHandler(
      {
        idempotency,
        schema: Order,
        // A parser in front of a schema does not decide the type.
        parse: (text) => JSON.parse(text),
        changeVisibility: async (record) => {
          expectTypeOf(record).toEqualTypeOf<SQSRecord>()
        },
      },
      (record) => {
        expectTypeOf(record.body).toEqualTypeOf<Order>()
      },
    )
  })
})
