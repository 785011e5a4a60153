import { describe, expectTypeOf, test } from 'vitest'
import type {
  AcquireOptions,
  AdmittedKey,
  CommitPlan,
  GuardedCommitWrite,
  Idempotency,
  Operation,
  OutboxMessage,
  Receipt,
  SettleResult,
  SignalResult,
  StepContext,
  Suspension,
  TransactWrite,
} from '../../lib/index.ts'

/** What a user writes is only looked at by the compiler here, and never run. */
const written = (_use: (operation: Operation, idempotency: Idempotency) => unknown) => undefined

describe('commit', () => {
  test('answers with the type of its value', () => {
    written(async ({ commit }) => {
      expectTypeOf(await commit({ id: 7, lines: ['a'] })).toEqualTypeOf<{ id: number; lines: string[] }>()
      expectTypeOf(await commit(undefined)).toEqualTypeOf<undefined>()
      expectTypeOf(commit<string>).returns.toEqualTypeOf<Promise<string>>()
    })
  })

  test('takes the writes of lib-dynamodb, guarded ones, messages and any receipt', () => {
    written(({ commit }) =>
      commit(1, {
        writes: [
          { Put: { TableName: 't', Item: { id: 1, tags: new Set(['a']) } } },
          { Update: { TableName: 't', Key: { id: 2 }, UpdateExpression: 'SET #n = :n' } },
          { Delete: { TableName: 't', Key: { id: 3 } } },
          { ConditionCheck: { TableName: 't', Key: { id: 4 }, ConditionExpression: 'attribute_exists(id)' } },
          {
            write: { Put: { TableName: 't', Item: { id: 5, version: 2 } } },
            ifNewer: { attribute: 'version', value: 2 },
            onStale: 'fail',
          },
        ],
        messages: [
          { to: { queueUrl: 'https://…' }, body: { paid: true }, attributes: { kind: 'paid' }, delaySeconds: 5 },
          { to: { topicArn: 'arn:…' }, body: 'text', groupId: 'g' },
          { to: { eventBusName: 'default', source: 'shop', detailType: 'paid' }, body: {}, name: 'event' },
          { to: { functionName: 'mail' }, body: {} },
        ],
        receipt: { charge: 'ch_1' },
      }),
    )
    expectTypeOf<CommitPlan['writes']>().toEqualTypeOf<readonly (TransactWrite | GuardedCommitWrite)[] | undefined>()
  })

  test('refuses what is no write, no message and no option', () => {
    written(({ commit }) => {
      // @ts-expect-error it is `writes`
      void commit(1, { write: [] })
      // @ts-expect-error a transaction writes, it does not read
      void commit(1, { writes: [{ Get: { TableName: 't', Key: { id: 1 } } }] })
      // @ts-expect-error a message has a target
      void commit(1, { messages: [{ body: 1 }] })
      // @ts-expect-error an event names its source
      void commit(1, { messages: [{ to: { eventBusName: 'default' }, body: {} }] })
      // @ts-expect-error attributes are texts
      void commit(1, { messages: [{ to: { queueUrl: 'q' }, body: 1, attributes: { n: 1 } }] })
    })
    expectTypeOf<OutboxMessage['body']>().toBeUnknown()
  })
})

describe('a step', () => {
  test('hands its result to receipt, and takes a probe of its type', () => {
    written(async ({ step }) => {
      const charge = await step('charge', async () => ({ id: 'ch_1', amount: 5 }), {
        receipt: (result) => {
          expectTypeOf(result).toEqualTypeOf<{ id: string; amount: number }>()
          return result.id
        },
        probe: async (context) => {
          expectTypeOf(context).toEqualTypeOf<StepContext>()
          return { kind: 'done', value: { id: 'ch_1', amount: 5 } }
        },
        retry: { maxAttempts: 4, classify: () => 'retry' },
        keyValidSeconds: 86_400,
      })
      expectTypeOf(charge).toEqualTypeOf<{ id: string; amount: number }>()
    })
  })

  test('refuses options that are none', () => {
    written(({ step }) => {
      // @ts-expect-error one of two words
      void step('a', () => 1, { onUnknown: 'ignore' })
      // @ts-expect-error a policy, no number of attempts
      void step('b', () => 1, { retry: 3 })
    })
  })
})

describe('a suspension', () => {
  test('is made by delay and wait, and returned', () => {
    written(({ delay, wait }) => {
      expectTypeOf(delay({ seconds: 5 }, 'why')).toEqualTypeOf<Suspension>()
      expectTypeOf(delay({ until: new Date() })).toEqualTypeOf<Suspension>()
      expectTypeOf(wait('why')).toEqualTypeOf<Suspension>()
      expectTypeOf(wait().isDue).toBeBoolean()
      // @ts-expect-error a time is needed
      delay({})
      // @ts-expect-error no milliseconds
      delay({ until: 1_700_000_000_000 })
    })
  })

  test('is no object that somebody makes himself', () => {
    // @ts-expect-error its brand is missing
    const made: Suspension = { isDue: false }
    expectTypeOf(made).toEqualTypeOf<Suspension>()
  })

  test('brings signals of which nothing is known', () => {
    written(async ({ signals }) => expectTypeOf(await signals()).toEqualTypeOf<readonly unknown[]>())
  })
})

describe('signal, settle and receipts', () => {
  test('answer with words that a caller can branch on', () => {
    written(async (_operation, idempotency) => {
      const signalled = await idempotency.signal(
        { key: ['order', 7], scope: 'tenant' },
        { paid: true },
        { id: 'evt_1' },
      )
      expectTypeOf(signalled).toEqualTypeOf<SignalResult>()
      expectTypeOf<SignalResult>().toEqualTypeOf<'delivered' | 'duplicate' | 'not-found' | 'finished'>()
      expectTypeOf(await idempotency.settle({ key: 'k' }, { rerun: true })).toEqualTypeOf<SettleResult>()
      expectTypeOf(await idempotency.receipts({ key: 'k' })).toEqualTypeOf<readonly Receipt[]>()
      expectTypeOf<Receipt['kind']>().toEqualTypeOf<'destination' | 'confirmed' | 'late'>()
      // @ts-expect-error an operation is named by an object
      void idempotency.signal('k', 1)
    })
  })
})

describe('an admission', () => {
  test('narrows to the holder’s methods, or to who holds the key', () => {
    written(async (_operation, idempotency) => {
      const admission = await idempotency.acquire('invoice:7', { ttlSeconds: 3600, metadata: { by: 'me' } })
      if (admission.admitted) {
        expectTypeOf(admission).toEqualTypeOf<AdmittedKey>()
        expectTypeOf(await admission.release()).toBeBoolean()
        expectTypeOf(await admission.confirm({ invoice: 7 })).toEqualTypeOf<'confirmed' | 'late'>()
        // @ts-expect-error nobody else has it
        admission.metadata
      } else {
        expectTypeOf(admission.metadata).toEqualTypeOf<Readonly<Record<string, string>>>()
        expectTypeOf(admission.since).toEqualTypeOf<Date>()
        expectTypeOf(admission.until).toEqualTypeOf<Date | undefined>()
        // @ts-expect-error it is not ours
        admission.release
      }
    })
  })

  test('takes a key, its parts, or a key with its scope', () => {
    written((_operation, { acquire }) => {
      void acquire(['invoice', 7], { ttlSeconds: 1 })
      void acquire({ key: 7, scope: ['tenant', 'user'] }, { ttlSeconds: 1 })
      // @ts-expect-error the time is required
      void acquire('k', {})
    })
    expectTypeOf<AcquireOptions['ttlSeconds']>().toBeNumber()
  })
})
