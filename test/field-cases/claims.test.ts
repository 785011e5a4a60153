import { describe, expect, test } from 'vitest'
import { createIdempotency } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { setUp as queue } from '../batch/set-up.ts'
import { event, message } from '../batch/sqs-event.ts'
import type { Fault } from '../core/faulty-store.ts'
import { codeOf, ORDER, setUp } from '../core/harness.ts'
import { httpEvent } from '../http/events.ts'
import { setUp as http } from '../http/harness.ts'

const never = () => new Promise<never>(() => undefined)

describe('Claims, lost answers and races', () => {
  test('The answer to a claim was lost, and the SDK’s repetition met its own write: it is the own claim, and runs once', async () => {
    const world = setUp({}, { put: ['answer-lost'] })
    let calls = 0
    expect(await world.idempotency.run(ORDER, () => ++calls)).toMatchObject({ value: 1, replayed: false })
    expect(world.record()?.status).toBe('COMPLETED')
  })

  test('The same for a takeover, and of two that race only one is the owner', async () => {
    const world = setUp({}, { update: ['answer-lost'] })
    void world.idempotency.run({ ...ORDER, context: { getRemainingTimeInMillis: () => 1_000 } }, never)
    await new Promise(setImmediate)
    world.clock.advance(10_000)
    let calls = 0
    const results = await Promise.all(['A', 'B'].map(() => codeOf(world.idempotency.run(ORDER, () => ++calls))))
    expect(results.toSorted()).toEqual(['IN_PROGRESS', 'no error'])
    expect(calls).toBe(1)
    expect(world.record()?.attempt).toBe(2)
  })

  test('A token per invocation made two records of one batch both the owner: with one business key they run once', async () => {
    const { deliver, ran } = queue({ options: { key: ({ body }) => body.id } })
    expect(
      await deliver(event(message('m1', { body: { id: 'o-1' } }), message('m2', { body: { id: 'o-1' } }))),
    ).toEqual([])
    expect(ran).toEqual(['o-1'])
  })

  test('The completion was applied, its answer lost, its repetition refused: that is success', async () => {
    const world = setUp({}, { update: ['answer-lost'] })
    expect(await world.idempotency.run(ORDER, () => 'done')).toMatchObject({ value: 'done', replayed: false })
    expect(world.types()).not.toContain('lease-lost')
  })

  test('A claim that met its own write was left as an orphan: it ends like any other', async () => {
    const world = setUp({ onError: () => 'release' }, { put: ['answer-lost'] })
    expect(await codeOf(world.idempotency.run(ORDER, () => Promise.reject(new Error('boom'))))).toContain('boom')
    expect(world.record()?.status).toBe('RELEASED')
  })

  test('An idle connection was reset at the first call after a freeze: the claim is sent again', async () => {
    const world = setUp({}, { put: ['not-applied'] })
    expect(await world.idempotency.run(ORDER, () => 'done')).toMatchObject({ value: 'done' })
  })

  test('Losing the race for a key threw a raw error of the store: of fifty one runs, the others are in progress', async () => {
    const world = setUp()
    const results = await Promise.all(
      Array.from({ length: 50 }, () => codeOf(world.idempotency.run(ORDER, () => new Promise(setImmediate)))),
    )
    expect(results.toSorted()).toEqual([...Array(49).fill('IN_PROGRESS'), 'no error'])
  })

  test('Losing the race counted as an outage and opened a circuit breaker: it is a 409, and no error is reported', async () => {
    const { serve, events } = http()
    const handler = serve(async () => {
      await new Promise(setImmediate)
      return { statusCode: 201, body: '' }
    })
    const answers = await Promise.all(Array.from({ length: 50 }, () => handler(httpEvent())))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([201, ...Array(49).fill(409)])
    expect(events.filter(({ type }) => type === 'store-error')).toEqual([])
  })

  test('Another payload got "in progress" and was retried for nothing: the payload is compared first', async () => {
    const world = setUp()
    void world.idempotency.run(ORDER, never)
    await new Promise(setImmediate)
    expect(await codeOf(world.idempotency.run({ ...ORDER, input: { amount: 2 } }, never))).toBe('MISMATCH')
    expect(await codeOf(world.idempotency.run(ORDER, never))).toBe('IN_PROGRESS')
  })

  test('The claim failed, the record was gone when it was read, and the work ran without a claim: it never does', async () => {
    const memory = memoryStore()
    let vanishes = 1
    const store = {
      ...memory,
      put: (...args: Parameters<typeof memory.put>) =>
        vanishes-- > 0 ? Promise.resolve({ applied: false as const, existing: undefined }) : memory.put(...args),
    }
    const idempotency = createIdempotency({ store, namespace: 'payments' })
    let calls = 0
    expect(await idempotency.run(ORDER, () => ++calls)).toMatchObject({ value: 1 })
    vanishes = Number.POSITIVE_INFINITY
    expect(await codeOf(idempotency.run({ key: 'other', input: 1 }, () => ++calls))).toBe('IN_PROGRESS')
    expect(calls).toBe(1)
  })

  test('The put failed with an internal error although it was written: the record says whose it is', async () => {
    const world = setUp({}, { put: Array.from({ length: 10 }, (): Fault => 'answer-lost') })
    let calls = 0
    expect(await world.idempotency.run(ORDER, () => ++calls)).toMatchObject({ value: 1, replayed: false })
    expect(calls).toBe(1)
  })
})
