import { describe, expect, test } from 'vitest'
import { planTurns } from '../../lib/batch/plan.ts'
import { NoEffectError, PermanentError } from '../../lib/index.ts'
import { gate, setUp } from './set-up.ts'
import { event, message, redelivered } from './sqs-event.ts'

const byBody = { key: ({ body }: { body: { id: string } }) => body.id }

describe('the same operation twice in one batch', () => {
  test('runs once, and both messages are done', async () => {
    const { deliver, ran, types } = setUp({ options: byBody })
    const body = { id: 'order' }
    expect(await deliver(event(message('1', { body }), message('2', { body })))).toEqual([])
    expect(ran).toEqual(['order'])
    expect(types()).toEqual(['claimed', 'completed'])
  })

  test.each([
    ['an error', new Error('boom')],
    ['NoEffectError', new NoEffectError()],
    ['PermanentError', new PermanentError('Never.')],
  ])('runs once and fails both when the handler throws %s', async (_name, error) => {
    const { deliver, ran } = setUp({
      options: byBody,
      work: () => {
        throw error
      },
    })
    const body = { id: 'order' }
    expect(await deliver(event(message('1', { body }), message('2'), message('3', { body })))).toEqual(['1', '2', '3'])
    expect(ran).toEqual(['order', '2'])
  })

  test('under one messageId is reported once', async () => {
    const { deliver, ran } = setUp({
      work: () => {
        throw new Error('boom')
      },
    })
    expect(await deliver(event(message('1'), message('1')))).toEqual(['1'])
    expect(ran).toEqual(['1'])
  })

  test('waits for the first one without taking a place of the limit', async () => {
    const { deliver, ran } = setUp({ options: { ...byBody, concurrency: 1 }, work: async () => undefined })
    const same = message('1', { body: { id: 'order' } })
    expect(await deliver(event(same, same, same, message('2')))).toEqual([])
    expect(ran).toEqual(['order', '2'])
  })

  test('follows a first one that came to a value which cannot be stored', async () => {
    const { deliver, ran } = setUp({ options: byBody, work: () => () => undefined })
    const body = { id: 'order' }
    expect(await deliver(event(message('1', { body }), message('2', { body })))).toEqual([])
    expect(ran).toEqual(['order'])
  })
})

describe('two requests under one key in one batch', () => {
  const first = message('1', { key: 'k', body: { id: 'a' } })
  const other = message('2', { key: 'k', body: { id: 'b' } })

  test('the second is a mismatch; its neighbours are not affected', async () => {
    const { deliver, ran, reasons, memory } = setUp()
    expect(await deliver(event(first, other, message('3')))).toEqual(['2'])
    expect(ran).toEqual(['a', '3'])
    expect(reasons()).toEqual(['mismatch'])
    expect(memory.records()).toHaveLength(2)
  })

  test('neither runs again when the first has failed', async () => {
    const { deliver, ran } = setUp({
      work: () => {
        throw new Error('boom')
      },
    })
    expect(await deliver(event(first, other))).toEqual(['1', '2'])
    expect(ran).toEqual(['a'])
  })

  test('the one that was completed before is done, whichever comes first', async () => {
    const { deliver, ran, reasons } = setUp()
    await deliver(event(other))
    expect(await deliver(redelivered(event(first, other)))).toEqual(['1'])
    expect(ran).toEqual(['b'])
    expect(reasons()).toEqual(['mismatch'])
  })

  test('are one where the fingerprint says so', async () => {
    const ignored = setUp({ options: { fingerprint: false } })
    expect(await ignored.deliver(event(first, other))).toEqual([])
    expect(ignored.ran).toEqual(['a'])
    const chosen = setUp({ options: { fingerprint: () => 'the same' } })
    expect(await chosen.deliver(event(first, other))).toEqual([])
    expect(chosen.ran).toEqual(['a'])
  })

  test('never wait for each other across groups', async () => {
    const opened = gate()
    const { deliver, ran } = setUp({
      options: { ...byBody, concurrency: 1 },
      work: () => opened.opened,
    })
    const answer = deliver(
      event(
        message('a1', { group: 'A', body: { id: 'x' } }),
        message('b1', { group: 'B', body: { id: 'y' } }),
        message('a2', { group: 'A', body: { id: 'y' } }),
        message('b2', { group: 'B', body: { id: 'x' } }),
      ),
    )
    opened.open()
    expect(await answer).toEqual([])
    expect(ran).toEqual(['x', 'y'])
  })
})

describe('the plan of a batch', () => {
  const on = (id: string, fingerprint: string) => ({ group: undefined, operation: { id, fingerprint } })

  test('lets a request follow the same request, and another one wait', () => {
    expect(planTurns([on('k', 'a'), on('k', 'b'), on('k', 'a'), on('k', 'b'), on('l', 'a')], 'group')).toEqual([
      {},
      { repeats: { index: 0, isSameRequest: false } },
      { repeats: { index: 0, isSameRequest: true } },
      { repeats: { index: 1, isSameRequest: true } },
      {},
    ])
  })

  test('puts records behind the one before them in their group', () => {
    const batch = ['A', 'B', undefined, 'A', 'B', 'A'].map((group) => ({ group, operation: undefined }))
    expect(planTurns(batch, 'group').map(({ behind }) => behind)).toEqual([undefined, undefined, undefined, 0, 1, 3])
    expect(planTurns(batch, 'batch').map(({ behind }) => behind)).toEqual([undefined, 0, undefined, 1, 3, 4])
  })
})
