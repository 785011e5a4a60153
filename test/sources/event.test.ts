import middy7 from '@middy/core'
import type { EventBridgeEvent } from 'aws-lambda'
import middy6 from 'middy6'
import { describe, expect, test } from 'vitest'
import {
  asyncInvoke,
  type EventContext,
  type EventSource,
  eventBridge,
  eventHandler,
  type IdempotentEventOptions,
  idempotentEvent,
  s3,
  s3Notification,
  sns,
} from '../../lib/event/index.ts'
import { createIdempotency, NoEffectError, PermanentError, StoreError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { busEvent, notification, s3Record, snsEvent } from './events.ts'
import { invocation, world } from './set-up.ts'

type Work = (event: never, context: EventContext) => unknown
type Shell = (
  options: IdempotentEventOptions<never>,
  work: Work,
) => (event: unknown, context: unknown) => Promise<unknown>

const SHELLS: Record<string, Shell> = {
  eventHandler: (options, work) => eventHandler(options, work) as never,
  'idempotentEvent on Middy 7': (options, work) =>
    middy7()
      .use(idempotentEvent(options) as middy7.MiddlewareObj)
      .handler(work as never) as never,
  'idempotentEvent on Middy 6': (options, work) =>
    middy6()
      .use(idempotentEvent(options) as middy6.MiddlewareObj)
      .handler(work as never) as never,
}

describe.each(Object.entries(SHELLS))('%s', (_name, shell) => {
  function setUp<E>(source: EventSource<E>, work: Work = () => 'done', options: Record<string, unknown> = {}) {
    const there = world()
    const ran: EventContext[] = []
    const handler = shell({ idempotency: there.idempotency, source, ...options } as never, (event, context) => {
      ran.push(context)
      return work(event, context)
    })
    return { ...there, ran, deliver: (event: unknown, requestId?: string) => handler(event, invocation(requestId)) }
  }

  test.each([[{ id: 1 }], [undefined], [null], [0], [''], [false]])(
    'answers a repetition with what the first run returned: %j',
    async (value) => {
      const { deliver, ran } = setUp(eventBridge(), () => value)
      const event = busEvent({ orderId: 'o-1' })
      expect(await deliver(event)).toEqual(value)
      expect(await deliver(event)).toEqual(value)
      expect(ran).toHaveLength(1)
    },
  )

  test('throws what the handler throws, and resumes at the next delivery', async () => {
    let calls = 0
    const { deliver, ran } = setUp(eventBridge(), async (_event, { operation }) => {
      const charged = await operation.step('charge', () => `charge-${++calls}`)
      if (ran.length === 1) throw new Error('boom')
      return charged
    })
    const event = busEvent({})
    await expect(deliver(event)).rejects.toThrow('boom')
    expect(await deliver(event)).toBe('charge-1')
    expect(ran.map(({ operation }) => operation.attempt)).toEqual([1, 2])
  })

  test('fails every delivery of what has failed for good, without running it', async () => {
    const { deliver, ran } = setUp(eventBridge(), () => Promise.reject(new PermanentError('never')))
    const event = busEvent({})
    await expect(deliver(event)).rejects.toMatchObject({ code: 'PERMANENT' })
    await expect(deliver(event)).rejects.toMatchObject({ code: 'OPERATION_FAILED' })
    expect(ran).toHaveLength(1)
  })

  test('releases what has certainly not happened', async () => {
    const { deliver, statuses } = setUp(eventBridge(), () => Promise.reject(new NoEffectError()))
    await expect(deliver(busEvent({}))).rejects.toMatchObject({ code: 'NO_EFFECT' })
    expect(statuses()).toEqual(['RELEASED'])
  })

  test('has Lambda deliver again what the handler has released', async () => {
    const { deliver, statuses } = setUp(eventBridge(), (_event, { operation }) => operation.release())
    await expect(deliver(busEvent({}))).rejects.toMatchObject({ code: 'RETRY_LATER' })
    expect(statuses()).toEqual(['RELEASED'])
  })

  test('refuses a second delivery while the first one runs', async () => {
    const gate = Promise.withResolvers<void>()
    const { deliver, ran } = setUp(eventBridge(), () => gate.promise)
    const event = busEvent({})
    const first = deliver(event)
    await expect(deliver(event)).rejects.toMatchObject({ code: 'IN_PROGRESS', retryable: true })
    gate.resolve()
    await first
    expect(ran).toHaveLength(1)
  })

  test('refuses the same key with another event', async () => {
    const { deliver, ran } = setUp(eventBridge(), () => 'done', { key: () => 'o-1' })
    await deliver(busEvent({ n: 1 }))
    await expect(deliver(busEvent({ n: 2 }))).rejects.toMatchObject({ code: 'MISMATCH' })
    expect(ran).toHaveLength(1)
  })

  test('does not run when the store cannot be reached', async () => {
    const { idempotency: _, ...there } = world()
    const down = {
      ...memoryStore(),
      put: () => Promise.reject(new StoreError('down', { retryable: false })),
      get: () => Promise.reject(new StoreError('down', { retryable: false })),
    }
    const idempotency = createIdempotency({ store: down, clock: there.clock, namespace: 'orders' })
    const { deliver, ran } = setUp(eventBridge(), () => 'done', { idempotency })
    await expect(deliver(busEvent({}))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(ran).toEqual([])
  })

  test('lets a delivery go whose operation waits, and continues it with a signal', async () => {
    const core = world()
    const idempotency = createIdempotency({ store: core.store, clock: core.clock, namespace: 'orders', relay: true })
    const { deliver, ran } = setUp(
      eventBridge(),
      async (_event, { operation }) => {
        const [paid] = await operation.signals()
        return paid ?? operation.wait('the payment')
      },
      { idempotency, redrive: { functionName: 'orders' } },
    )
    const event = busEvent({}, { id: 'e-1' })
    expect(await deliver(event)).toBeUndefined()
    expect(await deliver(event)).toBeUndefined()
    await idempotency.signal({ key: 'e-1', scope: ['111122223333', 'shop.orders'] }, 'paid')
    expect(await deliver(event)).toBe('paid')
    expect(ran.map(({ operation }) => operation.attempt)).toEqual([1, 2])
  })

  describe('names by default', () => {
    test('an event of EventBridge by its id; the same detail put again is another one', async () => {
      const { deliver, ran } = setUp(eventBridge())
      await deliver(busEvent({ orderId: 'o-1' }, { id: 'e-1' }))
      await deliver(busEvent({ orderId: 'o-1' }, { id: 'e-2' }))
      expect(ran.map(({ operation }) => operation.key)).toEqual(['e-1', 'e-2'])
    })

    test('what an outbox relay has sent by the key it gave', async () => {
      const { deliver, ran } = setUp(eventBridge())
      const sent = () => busEvent({ metadata: { idempotencyKey: 'k-1' } })
      await deliver(sent())
      await deliver(sent())
      expect(ran.map(({ operation }) => operation.key)).toEqual(['k-1'])
    })

    test('a message of SNS by its id, or by the publisher’s key', async () => {
      const { deliver, ran } = setUp(sns())
      await deliver(snsEvent(notification('x', { id: 'sns-1' })))
      await deliver(snsEvent(notification('x', { id: 'sns-1', Signature: 'other' })))
      await deliver(snsEvent(notification('x', { key: 'k-1' })))
      expect(ran.map(({ operation }) => operation.key)).toEqual(['sns-1', 'k-1'])
    })

    test('S3’s change inside a message of SNS by the change', async () => {
      const { deliver, ran, store } = setUp(sns({ unwrap: s3Notification() }))
      const put = () => snsEvent(notification({ Records: [s3Record('a')] }))
      await deliver(put())
      await deliver(put())
      expect(ran).toHaveLength(1)
      const trial = { Service: 'Amazon S3', Event: 's3:TestEvent' }
      expect(await deliver(snsEvent(notification(trial)))).toBeUndefined()
      expect(ran).toHaveLength(1)
      expect(store.records()).toHaveLength(1)
      await expect(deliver(snsEvent(notification('text')))).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    })

    test('a change of an object of S3', async () => {
      const { deliver, ran } = setUp(s3())
      await deliver({ Records: [s3Record('a')] })
      await deliver({ Records: [s3Record('a')] })
      await deliver({ Records: [s3Record('a', { sequencer: '0B' })] })
      await deliver({ Records: [s3Record('a'), s3Record('b')] })
      expect(ran).toHaveLength(3)
    })

    test('nothing in the message by which S3 tries a configuration', async () => {
      const { deliver, ran, store } = setUp(s3())
      const trial = { Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'invoices', RequestId: '1', HostId: '2' }
      expect(await deliver(trial)).toBeUndefined()
      expect([ran, store.records()]).toEqual([[], []])
    })

    test('an asynchronous invocation by its request id, which Lambda keeps over its retries', async () => {
      const { deliver, ran } = setUp(asyncInvoke())
      const [one, other] = [crypto.randomUUID(), crypto.randomUUID()]
      await deliver({ orderId: 'o-1' }, one)
      await deliver({ orderId: 'o-1' }, one)
      await deliver({ orderId: 'o-1' }, other)
      expect(ran.map(({ operation }) => operation.key)).toEqual([one, other])
    })
  })

  test.each<[string, EventSource<unknown>, unknown]>([
    ['nothing', eventBridge(), undefined],
    ['an event without an id', eventBridge(), { ...busEvent({}), id: '' }],
    ['an event without a detail', eventBridge(), { ...busEvent({}), detail: null }],
    ['a queue’s', eventBridge(), { Records: [{ eventSource: 'aws:sqs' }] }],
    ['no records', sns(), { Records: [] }],
    ['an S3 event', sns(), { Records: [s3Record()] }],
    ['no list of records', s3(), { Records: {} }],
    ['an SNS event', s3(), snsEvent(notification('x'))],
    ['a record without an object', s3(), { Records: [s3Record(), { eventSource: 'aws:s3', s3: null }] }],
  ])('refuses what is not of its source, with no claim: %s', async (_case, source, event) => {
    const { deliver, ran, store } = setUp(source)
    await expect(deliver(event)).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    expect(ran).toEqual([])
    expect(store.records()).toEqual([])
  })

  test.each([undefined, null, '', ' ', []])('refuses a missing key, with no claim: %j', async (key) => {
    const { deliver, ran, store } = setUp(eventBridge(), () => 'done', { key: () => key })
    await expect(deliver(busEvent({}))).rejects.toMatchObject({ code: 'MISSING_KEY' })
    expect([ran, store.records()]).toEqual([[], []])
  })

  test('refuses a key that is made of the invocation’s id, where a key is given', async () => {
    const key = (_event: unknown, { awsRequestId }: { awsRequestId: string }) => awsRequestId
    await expect(setUp(eventBridge(), undefined, { key }).deliver(busEvent({}))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    })
    await expect(setUp(asyncInvoke(), undefined, { key }).deliver({})).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  test('takes scope and fingerprint from the options', async () => {
    const { deliver, ran } = setUp(eventBridge<{ tenant: string }>(), () => 'done', {
      key: () => 'k',
      scope: ({ detail }: EventBridgeEvent<string, { tenant: string }>) => detail.tenant,
      fingerprint: false,
    })
    await deliver(busEvent({ tenant: 'a', n: 1 }))
    await deliver(busEvent({ tenant: 'a', n: 2 }))
    await deliver(busEvent({ tenant: 'b' }))
    expect(ran).toHaveLength(2)
    await expect(deliver(busEvent({ tenant: '' }))).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('idempotentEvent', () => {
  test('stores the result after every other middleware, and leaves an early time-out to its lease', async () => {
    const { idempotency, statuses } = world()
    const handler = middy7()
      .use(idempotentEvent({ idempotency, source: eventBridge() }))
      .after((request) => {
        request.response = { wrapped: request.response }
      })
      .handler(async () => 'done')
    const event = busEvent({})
    expect(await handler(event, invocation())).toEqual({ wrapped: 'done' })
    expect(await handler(event, invocation())).toEqual({ wrapped: 'done' })

    const slow = middy7({ timeoutEarlyInMillis: 29_999 })
      .use(idempotentEvent({ idempotency, source: eventBridge() }))
      .handler(() => new Promise(() => undefined))
    await expect(slow(busEvent({}), invocation())).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(statuses()).toEqual(['COMPLETED', 'IN_PROGRESS'])
  })

  test('leaves alone what it has not claimed, when another middleware throws before it', async () => {
    const { idempotency, store } = world()
    const handler = middy7()
      .before(() => {
        throw new Error('before')
      })
      .use(idempotentEvent({ idempotency, source: eventBridge() }))
      .handler(async () => 'done')
    await expect(handler(busEvent({}), invocation())).rejects.toThrow('before')
    expect(store.records()).toEqual([])
  })
})

describe('wrong options are refused at once', () => {
  const { idempotency } = world()
  test.each<[string, object, RegExp]>([
    ['no source', { idempotency }, /^source must be eventBridge/],
    ['an unknown one', { idempotency, source: s3(), keys: 1 }, /no option "keys"/],
    ['a key that is no function', { idempotency, source: s3(), key: 'k' }, /^key must be a function/],
    ['an empty scope', { idempotency, source: s3(), scope: '' }, /^scope must name/],
    ['a fingerprint that is none', { idempotency, source: s3(), fingerprint: 'f' }, /^fingerprint must be a function/],
    ['a redrive that is none', { idempotency, source: s3(), redrive: {} }, /^redrive must be/],
    ['a redrive without a key', { idempotency, source: asyncInvoke(), redrive: { functionName: 'f' } }, /needs a key/],
    ['no idempotency', { source: s3() }, /^idempotency must be made by/],
  ])('%s', (_name, options, message) => {
    expect(() => idempotentEvent(options as never)).toThrow(message)
    expect(() => eventHandler(options as never, () => undefined)).toThrow(message)
  })

  test('no function', () => {
    expect(() => eventHandler({ idempotency, source: s3() }, 'fn' as never)).toThrow(/must be a function/)
    expect(() => eventHandler(undefined as never, () => 1)).toThrow(/expects an options object/)
    expect(() => sns({ unwrap: 'sns' as never })).toThrow(/^unwrap must be an envelope/)
  })
})
