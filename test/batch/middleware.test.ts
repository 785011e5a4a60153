import middy from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { batchHandler, eachRecord, idempotentBatch } from '../../lib/batch/index.ts'
import { createIdempotency } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { event, invocation, message, redelivered } from './sqs-event.ts'

const setUp = () => {
  const store = memoryStore()
  return { store, idempotency: createIdempotency({ store, namespace: 'payments' }), onFailure: () => undefined }
}

/** What @middy/sqs-partial-batch-failure does, in short: it takes the response for a list of settled results. */
const partialBatchFailure = (logged: unknown[] = []) => {
  const after = (request: middy.Request) => {
    const batch = request.event as { Records: { messageId: string }[] }
    const failed = batch.Records.filter((_, index) => {
      const { status, reason } = request.response[index] ?? {}
      if (status !== 'fulfilled') logged.push(reason)
      return status !== 'fulfilled'
    })
    request.response = { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
  }
  return {
    after,
    onError: (request: middy.Request) => {
      request.response = (request.event as { Records: unknown[] }).Records.map(() => ({
        status: 'rejected',
        reason: request.error,
      }))
      after(request)
    },
  }
}

describe('the middleware', () => {
  test('runs each record once, with the operation and the context that the others have left', async () => {
    const { idempotency, store } = setUp()
    const seen: unknown[] = []
    const handler = middy()
      .use(idempotentBatch<{ id: string }>({ idempotency, onFailure: () => undefined }))
      .before(({ context }) => {
        Object.assign(context, { secret: 'from another middleware' })
      })
      .handler(
        eachRecord<{ id: string }>((record, operation, context) => {
          seen.push([record.body.id, operation.attempt, Reflect.get(context, 'secret')])
          if (record.body.id === '2') throw new Error('boom')
        }),
      )
    const batch = event(message('1'), message('2'))
    const failures = { batchItemFailures: [{ itemIdentifier: '2' }] }
    expect(await handler(batch, invocation())).toEqual(failures)
    expect(await handler(redelivered(batch), invocation())).toEqual(failures)
    expect(seen).toEqual([
      ['1', 1, 'from another middleware'],
      ['2', 1, 'from another middleware'],
      ['2', 2, 'from another middleware'],
    ])
    expect(store.records().map(({ status }) => status)).toEqual(['COMPLETED', 'RETRYABLE'])
    expect(JSON.stringify(await handler(event(), invocation()))).toBe('{"batchItemFailures":[]}')
  })

  test('keeps two invocations apart that run at once over one context', async () => {
    const { idempotency } = setUp()
    const both = Promise.withResolvers<void>()
    let running = 0
    const handler = middy()
      .use(idempotentBatch({ idempotency, onFailure: () => undefined }))
      .handler(
        eachRecord(async ({ messageId }) => {
          running += 1
          if (running === 2) both.resolve()
          await both.promise
          if (messageId === '1') throw new Error('boom')
        }),
      )
    const context = invocation()
    const before = Object.getOwnPropertySymbols(context)
    expect(await Promise.all([handler(event(message('1')), context), handler(event(message('2')), context)])).toEqual([
      { batchItemFailures: [{ itemIdentifier: '1' }] },
      { batchItemFailures: [] },
    ])
    expect(Object.getOwnPropertySymbols(context)).toEqual(before)
  })

  test('reads bodies before a parser behind it replaces them', async () => {
    const { idempotency } = setUp()
    const bodies: unknown[] = []
    const handler = middy()
      .use(idempotentBatch({ idempotency }))
      .before(({ event: { Records } }) => {
        for (const record of Records) Object.assign(record, { body: JSON.parse(record.body) })
      })
      .handler(eachRecord(({ body, rawBody }) => bodies.push([body, rawBody])))
    expect(await handler(event(message('1')), invocation())).toEqual({ batchItemFailures: [] })
    expect(bodies).toEqual([[{ id: '1' }, '{"id":"1"}']])
  })

  test('says what to do about a parser before it', async () => {
    const { idempotency } = setUp()
    const handler = middy<SQSEvent>()
      .before(({ event: { Records } }) => {
        for (const record of Records) Object.assign(record, { body: JSON.parse(record.body) })
      })
      .use(idempotentBatch({ idempotency }))
      .handler(eachRecord(() => undefined))
    await expect(handler(event(message('1')), invocation())).rejects.toThrow(/Register idempotentBatch before it/)
  })

  test('makes no answer out of an event of another source', async () => {
    const { idempotency } = setUp()
    const handler = middy()
      .use(idempotentBatch({ idempotency }))
      .handler(eachRecord(() => undefined))
    await expect(handler({} as never, invocation())).rejects.toMatchObject({ code: 'INVALID_EVENT' })
  })

  test('leaves an invocation that Middy cuts short to its lease, and the handler’s work to the record', async () => {
    const { idempotency, store } = setUp()
    const slow = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const handler = middy({ timeoutEarlyInMillis: 29_999 })
      .use(idempotentBatch({ idempotency }))
      .handler(
        eachRecord(async () => {
          started.resolve()
          await slow.promise
        }),
      )
    await expect(handler(event(message('1')), invocation())).rejects.toMatchObject({ name: 'TimeoutError' })
    await started.promise
    expect(store.records().map(({ status }) => status)).toEqual(['IN_PROGRESS'])
    slow.resolve()
  })
})

describe('a wrong set-up', () => {
  test('eachRecord without the middleware says what is missing', async () => {
    const handler = middy().handler(eachRecord(() => undefined) as never)
    await expect(handler(event(message('1')) as never, invocation())).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('idempotentBatch'),
    })
    await expect(Promise.resolve(eachRecord(() => undefined)(event(), undefined as never))).rejects.toThrow(/needs/)
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an answer of its own', { batchItemFailures: [] }],
    ['settled results', [{ status: 'fulfilled', value: 1 }]],
  ])('a handler that is not eachRecord is refused, not taken for success: it returns %s', async (_name, value) => {
    const { idempotency } = setUp()
    const handler = middy()
      .use(idempotentBatch({ idempotency }))
      .handler(async () => value as SQSBatchResponse)
    await expect(handler(event(message('1')), invocation())).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('eachRecord'),
    })
  })

  test('no handler at all is refused', async () => {
    const { idempotency } = setUp()
    const handler = middy().use(idempotentBatch({ idempotency }))
    await expect(handler(event(message('1')), invocation())).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  test.each(['after', 'before'])(
    '@middy/sqs-partial-batch-failure %s it fails every record with an error that names it',
    async (place) => {
      const { idempotency } = setUp()
      const logged: unknown[] = []
      const ours = idempotentBatch({ idempotency })
      const theirs = partialBatchFailure(logged)
      const handler = middy()
        .use(place === 'after' ? [ours, theirs] : [theirs, ours])
        .handler(eachRecord(() => undefined) as never)
      expect(await handler(event(message('1'), message('2')), invocation())).toEqual({
        batchItemFailures: [{ itemIdentifier: '1' }, { itemIdentifier: '2' }],
      })
      expect(String(logged)).toContain('@middy/sqs-partial-batch-failure')
    },
  )

  test('another middleware cannot take failures out of the answer', async () => {
    const { idempotency, onFailure } = setUp()
    const fail = eachRecord(() => Promise.reject(new Error('boom')))
    for (const change of [
      (request: middy.Request) => {
        request.response.batchItemFailures.length = 0
      },
      (request: middy.Request) => {
        request.response = { batchItemFailures: [] }
      },
    ]) {
      const handler = middy()
        .use(idempotentBatch({ idempotency, onFailure }))
        .after(change as never)
        .handler(fail)
      await expect(handler(event(message('1')), invocation())).rejects.toThrow()
    }
  })

  test('the middleware twice on one handler is refused', async () => {
    const { idempotency } = setUp()
    const handler = middy()
      .use(idempotentBatch({ idempotency }))
      .use(idempotentBatch({ idempotency }))
      .handler(eachRecord(() => undefined))
    await expect(handler(event(message('1')), invocation())).rejects.toThrow(/twice/)
  })
})

test('the plain handler serves as the handler of a Middy chain, too', async () => {
  const { idempotency, store } = setUp()
  const handler = middy<SQSEvent, SQSBatchResponse>().handler(batchHandler({ idempotency }, () => 'done'))
  expect(await handler(event(message('1')), invocation())).toEqual({ batchItemFailures: [] })
  expect(store.records()).toHaveLength(1)
})
