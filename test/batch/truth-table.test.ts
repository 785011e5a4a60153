import { describe, expect, test } from 'vitest'
import {
  isLambdaOnceError,
  NoEffectError,
  type OperationRecord,
  PermanentError,
  RetryLater,
  type Status,
} from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { type Fault, faultyStore } from '../core/faulty-store.ts'
import { setUp } from './set-up.ts'
import { event, message, redelivered } from './sqs-event.ts'

describe('a record whose handler returned', () => {
  test('is a success, and its outcome is recorded', async () => {
    const { deliver, ran, statuses } = setUp()
    expect(await deliver(event(message('1'), message('2')))).toEqual([])
    expect(ran).toEqual(['1', '2'])
    expect(statuses()).toEqual(['COMPLETED', 'COMPLETED'])
  })

  test('is a success when it comes again, and does not run', async () => {
    const { deliver, ran, types } = setUp()
    const batch = event(message('1'))
    await deliver(batch)
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(ran).toEqual(['1'])
    expect(types()).toEqual(['claimed', 'completed', 'replayed', 'replayed'])
  })

  test('is a success when the producer sends it twice under one business key', async () => {
    const { deliver, ran } = setUp({ options: { key: ({ body }) => body.id } })
    await deliver(event(message('m1', { body: { id: 'order' } })))
    expect(await deliver(event(message('m2', { body: { id: 'order' } })))).toEqual([])
    expect(ran).toEqual(['order'])
  })

  test('is a success when the consumer of the dead-letter queue gets it', async () => {
    const { deliver, ran } = setUp()
    const first = message('1')
    await deliver(event(first))
    const dead = message('1', {
      eventSourceARN: `${first.eventSourceARN}-dlq`,
      attributes: { DeadLetterQueueSourceArn: first.eventSourceARN },
    })
    expect(await deliver(event(dead))).toEqual([])
    expect(ran).toEqual(['1'])
  })

  test('is a success for the first delivery when its value cannot be stored, and failed without running ever after', async () => {
    const { deliver, ran, statuses } = setUp({ work: () => ({ run: () => 1 }) })
    const batch = event(message('1'))
    expect(await deliver(batch)).toEqual([])
    expect(statuses()).toEqual(['FAILED'])
    expect(await deliver(redelivered(batch))).toEqual(['1'])
    expect(ran).toEqual(['1'])
  })

  test('is failed when its outcome could not be recorded, and runs again only after its lease', async () => {
    const faults: Fault[] = ['refused']
    const memory = memoryStore()
    const { deliver, ran, reasons, clock } = setUp({ core: { store: faultyStore(memory, { update: faults }) } })
    const batch = event(message('1'), message('2'))
    expect(await deliver(batch)).toEqual(['1'])
    expect(reasons()).toEqual(['not-recorded'])
    expect(await deliver(redelivered(batch))).toEqual(['1'])
    expect(ran).toEqual(['1', '2'])
    clock.advance(33_000)
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(ran).toEqual(['1', '2', '1'])
  })

  test('is failed when it has asked for a release, since there is something left to do', async () => {
    const { deliver, ran, statuses, reasons } = setUp({ work: (_, operation) => operation.release() })
    const batch = event(message('1'))
    expect(await deliver(batch)).toEqual(['1'])
    expect(statuses()).toEqual(['RELEASED'])
    expect(await deliver(redelivered(batch))).toEqual(['1'])
    expect(ran).toEqual(['1', '1'])
    expect(reasons()).toEqual(['released', 'released'])
  })

  test('is a success when it asks for a release too late to be sure: its outcome is stored', async () => {
    const { deliver, ran, statuses } = setUp({
      work: (_, operation) => {
        if (operation.attempt === 1) throw new RetryLater()
        operation.release()
      },
    })
    const batch = event(message('1'))
    await deliver(batch)
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(statuses()).toEqual(['COMPLETED'])
    expect(ran).toEqual(['1', '1'])
  })

  test('is failed when it asks for a release and has steps: it goes on from there', async () => {
    const { deliver, statuses, reasons } = setUp({
      work: async (_, operation) => {
        await operation.step('look', () => 1)
        operation.release()
      },
    })
    expect(await deliver(event(message('1')))).toEqual(['1'])
    expect(statuses()).toEqual(['RETRYABLE'])
    expect(reasons()).toEqual(['released'])
  })
})

describe('a record whose handler threw', () => {
  test.each<[string, unknown, Status, number]>([
    ['an error', new Error('boom'), 'RETRYABLE', 2],
    ['something that is no error', 'boom', 'RETRYABLE', 2],
    ['RetryLater', new RetryLater(), 'RETRYABLE', 2],
    ['NoEffectError', new NoEffectError(), 'RELEASED', 2],
    ['PermanentError', new PermanentError('Never.'), 'FAILED', 1],
    [
      'Middy’s TimeoutError, while it may still be running',
      Object.assign(new Error('Aborted.', { cause: { package: '@middy/core' } }), { name: 'TimeoutError' }),
      'IN_PROGRESS',
      1,
    ],
  ])('%s is failed alone', async (_name, error, status, runs) => {
    const { deliver, ran, statuses, failures } = setUp({
      work: (id) => {
        if (id === '2') throw error
      },
    })
    const batch = event(message('1'), message('2'), message('3'))
    expect(await deliver(batch)).toEqual(['2'])
    expect(statuses()).toEqual(['COMPLETED', status, 'COMPLETED'])
    expect(failures).toEqual([{ why: 'threw', error, record: batch.Records[1] }])
    expect(await deliver(redelivered(batch))).toEqual(['2'])
    expect(ran.filter((id) => id === '2')).toHaveLength(runs)
  })

  test('runs again at the next delivery and may then succeed', async () => {
    const { deliver, ran } = setUp({
      work: (_, { attempt }) => {
        if (attempt < 3) throw new Error('boom')
      },
    })
    const batch = event(message('1'))
    expect(await deliver(batch)).toEqual(['1'])
    expect(await deliver(redelivered(batch))).toEqual(['1'])
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(ran).toHaveLength(3)
  })

  test('keeps its recorded steps for the next delivery', async () => {
    const charged: string[] = []
    const { deliver } = setUp({
      work: async (id, operation) => {
        await operation.step('charge', () => charged.push(id))
        if (operation.attempt === 1) throw new Error('after the charge')
      },
    })
    const batch = event(message('1'))
    expect(await deliver(batch)).toEqual(['1'])
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(charged).toEqual(['1'])
  })

  test('is failed when it returned a promise that rejects, and so is a thenable', async () => {
    const { deliver } = setUp({
      work: (id) =>
        id === '1'
          ? Promise.reject(new Error('later'))
          : // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
            { then: (_: unknown, reject: (error: Error) => void) => reject(new Error('later')) },
    })
    expect(await deliver(event(message('1'), message('2')))).toEqual(['1', '2'])
  })

  test('is failed when it did not await a step', async () => {
    const { deliver, statuses } = setUp({
      work: (_, operation) => {
        void operation.step('forgotten', async () => undefined).catch(() => undefined)
      },
    })
    expect(await deliver(event(message('1')))).toEqual(['1'])
    expect(statuses()).toEqual(['RETRYABLE'])
  })
})

const fakeNow = 1_700_000_000_000

describe('a record that is not run', () => {
  /** Delivers one message whose record is already there. */
  async function deliverOnto(change: Partial<OperationRecord>) {
    const first = setUp()
    const batch = event(message('1'))
    await first.deliver(batch)
    const { outcome: _, ...record } = first.memory.records()[0] as OperationRecord
    const store = memoryStore({ records: [{ ...record, status: 'IN_PROGRESS', token: 'another', ...change }] })
    const second = setUp({ core: { store } })
    const answer = await second.deliver(event(message('2'), ...redelivered(batch).Records))
    expect(second.ran).toEqual(['2'])
    expect(store.records().find(({ id }) => id === record.id)).toMatchObject({ token: 'another' })
    return { answer, failures: second.failures }
  }

  test('is failed while another execution has it', async () => {
    const { answer, failures } = await deliverOnto({ leaseUntil: fakeNow + 5_000 })
    expect(answer).toEqual(['1'])
    expect(failures.map(({ why }) => why)).toEqual(['in-progress'])
  })

  test.each<[string, Partial<OperationRecord>]>([
    ['unknown', { status: 'UNKNOWN' }],
    ['waiting', { status: 'WAITING', resumeAtMs: 2_000_000_000_000 }],
    ['mismatch', { status: 'COMPLETED', fingerprint: 'v1:another' }],
    ['failed-before', { status: 'FAILED', outcome: { kind: 'failure', failure: { name: 'E', message: 'no' } } }],
    [
      'outcome-lost',
      {
        status: 'COMPLETED',
        outcome: { kind: 'value', value: { kind: 'parts', partsId: 'gone', count: 1, length: 1, sha256: '' } },
      },
    ],
  ])('is failed: %s', async (why, change) => {
    const { answer, failures } = await deliverOnto(change)
    expect(answer).toEqual(['1'])
    expect(failures.map((failure) => failure.why)).toEqual([why])
  })
})

describe('the store', () => {
  test('down fails every record, and none runs', async () => {
    const { deliver, ran, reasons, failures } = setUp({
      core: { store: faultyStore(memoryStore(), { put: ['refused', 'refused', 'refused'] }) },
    })
    expect(await deliver(event(message('1'), message('2'), message('3')))).toEqual(['1', '2', '3'])
    expect(ran).toEqual([])
    expect(reasons()).toEqual(['store-unavailable', 'store-unavailable', 'store-unavailable'])
    expect(failures.every(({ error }) => isLambdaOnceError(error, 'STORE_UNAVAILABLE'))).toBe(true)
  })

  test('down in the middle fails those that were not claimed', async () => {
    const { deliver, ran } = setUp({
      core: { store: faultyStore(memoryStore(), { put: ['none', 'refused', 'none'] }) },
    })
    expect(await deliver(event(message('1'), message('2'), message('3')))).toEqual(['2'])
    expect(ran).toEqual(['1', '3'])
  })

  test('that breaks its contract fails its record, not the batch', async () => {
    const store = memoryStore()
    const { deliver, types } = setUp({
      core: {
        store: {
          ...store,
          put: async (record, condition) => {
            if (store.records().length === 1) throw new TypeError('a bug')
            return store.put(record, condition)
          },
        },
      },
    })
    expect(await deliver(event(message('1'), message('2')))).toEqual(['2'])
    expect(types()).toContain('store-error')
  })

  test('down lets records run and be deleted where the options allow it', async () => {
    const { deliver, ran, types } = setUp({
      core: { onStoreError: 'open', store: faultyStore(memoryStore(), { put: ['refused', 'refused'] }) },
      work: (id) => {
        if (id === '2') throw new Error('boom')
      },
    })
    expect(await deliver(event(message('1'), message('2')))).toEqual(['2'])
    expect(ran).toEqual(['1', '2'])
    expect(types().filter((type) => type === 'unprotected')).toHaveLength(2)
  })

  test('down at the record of a step keeps the message, even where the options allow to run unclaimed', async () => {
    const memory = memoryStore()
    const { deliver, ran, reasons } = setUp({
      core: { onStoreError: 'open', store: faultyStore(memory, { update: ['refused'] }) },
      work: async (_, operation) => {
        await operation.step('charge', () => 'charged').catch(() => operation.release())
      },
    })
    expect(await deliver(event(message('1')))).toEqual(['1'])
    expect({ ran, reasons: reasons(), status: memory.records()[0]?.status }).toEqual({
      ran: ['1'],
      reasons: ['not-recorded'],
      status: 'IN_PROGRESS',
    })
  })

  test('that applies a write and loses its answer changes nothing', async () => {
    const store = faultyStore(memoryStore(), { put: ['answer-lost'], update: ['answer-lost'] })
    const { deliver, ran } = setUp({ core: { store } })
    expect(await deliver(event(message('1')))).toEqual([])
    expect(ran).toEqual(['1'])
  })
})

describe('a record whose lease is lost while it runs', () => {
  /** The first delivery outlives its lease; a second one takes over in the middle of it. */
  async function overtaken(second: () => unknown) {
    const batch = event(message('1'))
    const seen: { winner?: string[] } = {}
    const subject = setUp({
      core: { leaseSeconds: 10 },
      work: async (_, { attempt }) => {
        if (attempt > 1) return second()
        subject.clock.advance(11_001)
        seen.winner = await subject.deliver(redelivered(batch))
        return 'late'
      },
    })
    const loser = await subject.deliver(batch)
    return { loser, winner: seen.winner, ...subject }
  }

  test('follows the winner that has completed', async () => {
    const { loser, winner, ran } = await overtaken(() => 'won')
    expect({ loser, winner, runs: ran.length }).toEqual({ loser: [], winner: [], runs: 2 })
  })

  test('is failed when the winner has not completed', async () => {
    const { loser, winner, reasons } = await overtaken(() => {
      throw new Error('boom')
    })
    expect({ loser, winner }).toEqual({ loser: ['1'], winner: ['1'] })
    expect(reasons()).toEqual(['threw', 'lease-lost'])
  })

  test('is failed when the winner has failed for good', async () => {
    const { loser, reasons } = await overtaken(() => {
      throw new PermanentError('Never.')
    })
    expect(loser).toEqual(['1'])
    expect(reasons()).toEqual(['threw', 'failed-before'])
  })
})
