import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  asyncInvoke,
  type EventSource,
  eventBridge,
  eventHandler,
  s3,
  s3Notification,
  sns,
} from '../../lib/event/index.ts'
import { createIdempotency, isLambdaOnceError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { busEvent, notification, s3Record, snsEvent } from './events.ts'
import { copyOf, FUZZ_EVENTS, mutated, mutations, reordered } from './mutations.ts'
import { invocation } from './set-up.ts'

interface Fuzzed {
  readonly source: EventSource<unknown>
  readonly event: unknown
  /** What the event says, read without the toolkit. */
  readonly meaning: (event: never) => unknown
}

type S3Like = { Records: { eventName: unknown; s3: { bucket: { name: unknown }; object: unknown } }[] }
const changes = ({ Records }: S3Like) => Records.map(({ eventName, s3 }) => [eventName, s3.bucket.name, s3.object])

const FUZZED: Record<string, Fuzzed> = {
  EventBridge: {
    source: eventBridge(),
    event: busEvent({ orderId: 'o-1', lines: [{ n: 1 }, { n: 2 }], metadata: { idempotencyKey: 'k' } }),
    meaning: (event: Record<string, unknown>) => [event.source, event['detail-type'], event.detail],
  },
  SNS: {
    source: sns(),
    event: snsEvent(notification({ id: 1 }, { key: 'k' })),
    meaning: ({ Records }: { Records: { Sns: { Message: unknown } }[] }) => Records.map(({ Sns }) => Sns.Message),
  },
  'S3 in SNS': {
    source: sns({ unwrap: s3Notification() }),
    event: snsEvent(notification({ Records: [s3Record('a')] })),
    meaning: ({ Records }: { Records: { Sns: { Message: string } }[] }) => {
      const inner = Records.map(({ Sns }) => JSON.parse(Sns.Message) as S3Like)
      return inner.flatMap(changes)
    },
  },
  S3: { source: s3(), event: { Records: [s3Record('a'), s3Record('b')] }, meaning: changes },
  'an asynchronous invocation': {
    source: asyncInvoke(),
    event: { orderId: 'o-1', lines: [{ n: 1 }, { n: null }], note: 'ä' },
    meaning: (event: unknown) => event,
  },
}

function consume(source: EventSource<unknown>, key?: () => string) {
  const store = memoryStore()
  const idempotency = createIdempotency({ store, clock: fakeClock(), namespace: 'fuzz' })
  const keys: string[] = []
  const handler = eventHandler({ idempotency, source, ...(key && { key }) }, (_event, { operation }) => {
    keys.push(operation.key)
    return keys.length
  })
  return {
    store,
    keys,
    async deliver(event: unknown, requestId?: string): Promise<unknown> {
      try {
        return await handler(copyOf(event), invocation(requestId))
      } catch (error) {
        if (!isLambdaOnceError(error)) throw error
        expect([
          'INVALID_EVENT',
          'INVALID_INPUT',
          'INVALID_KEY',
          'MISSING_KEY',
          'MISMATCH',
          'INVALID_OPTION',
        ]).toContain(error.code)
        return error
      }
    },
  }
}

describe.each(Object.entries(FUZZED))('%s', (_name, { source, event: original, meaning }) => {
  test('changed anyhow: no untyped crash, no claim without a key', async () => {
    const perRun = 10
    await fc.assert(
      fc.asyncProperty(fc.array(mutations, { minLength: perRun, maxLength: perRun }), async (rounds) => {
        const { deliver, keys, store } = consume(source)
        for (const changesOfRound of rounds) await deliver(mutated(original, changesOfRound))
        expect(keys.filter((key) => key.trim() === '')).toEqual([])
        expect(store.records()).toHaveLength(keys.length)
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / perRun) },
    )
  })

  test.each([['under its own key'], ['under one key for all']])('a changed copy %s is no repetition', async (how) => {
    const perRun = 5
    const key = how === 'under its own key' ? undefined : () => 'k'
    await fc.assert(
      fc.asyncProperty(fc.array(mutations, { minLength: perRun, maxLength: perRun }), async (rounds) => {
        const { deliver, keys } = consume(source, key)
        const requestId = crypto.randomUUID()
        expect(await deliver(original, requestId)).toBe(1)
        for (const changesOfRound of rounds) {
          const runs = keys.length
          const given = mutated(original, changesOfRound)
          const answer = await deliver(given, requestId)
          const isReplay = keys.length === runs && answer === 1
          if (isReplay && !isDeepStrictEqual(meaning(given as never), meaning(original as never))) {
            throw new Error('Another event got the answer.')
          }
        }
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / perRun / 4) },
    )
  })

  test('with the keys of its objects in another order it is a repetition', async () => {
    const { deliver, keys } = consume(source)
    const requestId = crypto.randomUUID()
    expect(await deliver(original, requestId)).toBe(1)
    expect(await deliver(reordered(original), requestId)).toBe(1)
    expect(keys).toHaveLength(1)
  })

  test('changed anyhow, and then with its keys in another order, it is a repetition', async () => {
    const perRun = 5
    await fc.assert(
      fc.asyncProperty(fc.array(mutations, { minLength: perRun, maxLength: perRun }), async (rounds) => {
        for (const changesOfRound of rounds) {
          const { deliver, keys } = consume(source)
          const requestId = crypto.randomUUID()
          const given = mutated(original, changesOfRound)
          await deliver(given, requestId)
          const runs = keys.length
          await deliver(reordered(given), requestId)
          expect(keys).toHaveLength(runs)
        }
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / perRun / 10) },
    )
  })
})
