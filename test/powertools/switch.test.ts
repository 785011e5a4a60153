import { IdempotencyAlreadyInProgressError, IdempotencyValidationError } from '@aws-lambda-powertools/idempotency'
import { describe, expect, test } from 'vitest'
import { NoEffectError, RetryLater } from '../../lib/index.ts'
import { gate } from '../batch/set-up.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { items, type Order, twoVersions } from './set-up.ts'

const order: Order = { id: 'order-1', total: 7 }

describe('what the old version has done', () => {
  test('is answered with its stored result, and not done again', async () => {
    const { old, next, ran } = await twoVersions()
    await old(order, () => ({ statusCode: 201, body: '{"id":"order-1"}' }))
    const { value } = await next(order)
    expect(value).toEqual({ statusCode: 201, body: '{"id":"order-1"}' })
    expect(ran).toEqual(['old'])
  })

  test('is the new version’s own outcome from then on, whatever becomes of the old record', async () => {
    const clock = fakeClock(Date.now())
    const { old, next, ran } = await twoVersions({ config: { expiresAfterSeconds: 1 }, records: { clock } })
    await old(order, () => 'receipt 1')
    await next(order)
    clock.advance(60_000)
    expect(await next(order)).toMatchObject({ value: 'receipt 1', replayed: true })
    expect(ran).toEqual(['old'])
  })

  test('may have been nothing to answer', async () => {
    const { old, next, ran } = await twoVersions()
    await old(order, () => undefined)
    expect((await next(order)).value).toBeUndefined()
    expect(ran).toEqual(['old'])
  })

  test('protects no longer than it did there', async () => {
    const clock = fakeClock(Date.now())
    const { old, next, ran } = await twoVersions({ config: { expiresAfterSeconds: 60 }, records: { clock } })
    await old(order)
    clock.advance(62_000)
    await next(order)
    expect(ran).toEqual(['old', 'new'])
  })

  test('for another payload is refused, and the key stays free for the first one', async () => {
    const { old, next, ran } = await twoVersions({
      config: { payloadValidationJmesPath: 'total' },
      records: { validation: ({ total }) => total },
    })
    await old(order, () => 'receipt 1')
    const refused = next({ ...order, total: 8 })
    await expect(refused).rejects.toThrow(NoEffectError)
    await expect(refused).rejects.toMatchObject({ statusCode: 422, cause: { code: 'MISMATCH' } })
    expect((await next(order)).value).toBe('receipt 1')
    expect(ran).toEqual(['old'])
  })

  test('with other names of attributes, a sort key and another hash is found as well', async () => {
    const names = {
      statusAttr: 'state',
      expiryAttr: 'until',
      inProgressExpiryAttr: 'busyUntil',
      dataAttr: 'result',
      validationKeyAttr: 'checked',
      sortKeyAttr: 'sort',
      staticPkValue: 'everything',
    }
    const { old, next, ran, tableName } = await twoVersions({
      sortKey: 'sort',
      layer: names,
      config: { hashFunction: 'sha256', payloadValidationJmesPath: 'total' },
      records: { ...names, hashFunction: 'sha256', validation: ({ total }) => total },
    })
    await old(order, () => 'receipt 1')
    expect((await next(order)).value).toBe('receipt 1')
    await next({ id: 'order-2', total: 1 }, () => 'receipt 2')
    expect(await old({ id: 'order-2', total: 1 })).toBe('receipt 2')
    await expect(old({ id: 'order-2', total: 2 })).rejects.toThrow(IdempotencyValidationError)
    expect(ran).toEqual(['old', 'new'])
    expect((await items(tableName)).map(({ id }) => id)).toEqual(['everything', 'everything'])
  })
})

describe('what the old version is doing', () => {
  test('is refused until it has ended, and then answered', async () => {
    const { old, next, ran } = await twoVersions()
    const { opened, open } = gate()
    const first = old(order, async () => opened.then(() => 'receipt 1'))
    await expect.poll(() => ran).toEqual(['old'])
    await expect(next(order)).rejects.toThrow(RetryLater)
    open()
    await first
    expect((await next(order)).value).toBe('receipt 1')
    expect(ran).toEqual(['old'])
  })

  test('is left alone until its time is over, and then taken over', async () => {
    const clock = fakeClock(Date.now())
    const { old, next, ran } = await twoVersions({ records: { clock } })
    const killed = gate()
    const first = old(order, () => killed.opened, 5)
    await expect.poll(() => ran).toEqual(['old'])
    clock.advance(5_500)
    // Within what two clocks may differ by.
    await expect(next(order)).rejects.toThrow(RetryLater)
    clock.advance(2_000)
    expect((await next(order, () => 'receipt 2')).value).toBe('receipt 2')
    expect(ran).toEqual(['old', 'new'])
    killed.open()
    await first
  })

  test('is not known to end when it was never told its time: it is left alone until it expires', async () => {
    const clock = fakeClock(Date.now())
    const { old, next, ran } = await twoVersions({ records: { clock }, config: { expiresAfterSeconds: 900 } })
    const { opened, open } = gate()
    const first = old(order, () => opened, 0)
    await expect.poll(() => ran).toEqual(['old'])
    clock.advance(890_000)
    await expect(next(order)).rejects.toThrow(RetryLater)
    open()
    await first
  })

  test('and has failed at is free, as it was there', async () => {
    const { old, next, ran } = await twoVersions()
    await expect(old(order, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await next(order)
    expect(ran).toEqual(['old', 'new'])
  })
})

describe('what the new version does', () => {
  test('is refused by the old one while it runs, and answered afterwards', async () => {
    const { old, next, ran } = await twoVersions()
    const { opened, open } = gate()
    const first = next(order, () => opened.then(() => ({ total: 7, tags: ['a'], note: undefined })))
    await expect.poll(() => ran).toEqual(['new'])
    await expect(old(order)).rejects.toThrow(IdempotencyAlreadyInProgressError)
    open()
    await first
    expect(await old(order)).toEqual({ total: 7, tags: ['a'] })
    expect(ran).toEqual(['new'])
  })

  test('and fails at is refused by the old one, which would do it again', async () => {
    const { old, next, ran } = await twoVersions()
    await expect(next(order, () => Promise.reject(new Error('declined')))).rejects.toThrow('declined')
    await expect(old(order)).rejects.toThrow(IdempotencyAlreadyInProgressError)
    expect(ran).toEqual(['new'])
  })

  test('and cannot tell the old one is refused by it, and answered here', async () => {
    const { old, next, ran } = await twoVersions()
    const value = { at: new Date(0) }
    expect((await next(order, () => value)).value).toEqual(value)
    await expect(old(order)).rejects.toThrow(IdempotencyAlreadyInProgressError)
    expect(await next(order)).toMatchObject({ value, replayed: true })
    expect(ran).toEqual(['new'])
  })

  test('and is killed at is taken over by the new version only', async () => {
    const clock = fakeClock(Date.now())
    const { old, next, ran } = await twoVersions({ records: { clock }, core: { clock, leaseSeconds: 10 } })
    const killed = gate()
    const first = next(order, () => killed.opened)
    await expect.poll(() => ran).toEqual(['new'])
    clock.advance(12_000)
    await expect(old(order)).rejects.toThrow(IdempotencyAlreadyInProgressError)
    expect((await next(order, () => 'receipt 2')).value).toBe('receipt 2')
    expect(await old(order)).toBe('receipt 2')
    expect(ran).toEqual(['new', 'new'])
    killed.open()
    await first.catch(() => undefined)
  })

  test('and leaves to be continued is refused by the old one until it has ended', async () => {
    const { old, next, ran } = await twoVersions({ core: { reconcilerRecovers: true, reconcilerShards: 1 } })
    await expect(next(order, (operation) => operation.wait('the provider'))).rejects.toMatchObject({ code: 'WAITING' })
    await expect(old(order)).rejects.toThrow(IdempotencyAlreadyInProgressError)
    expect(ran).toEqual(['new'])
  })

  test('under two names that the old version took for one runs for each of them', async () => {
    const { previous, idempotency, ran, old } = await twoVersions()
    const runFor = (scope: string) =>
      idempotency.run({ key: order.id, scope, input: order }, (operation) =>
        previous.during(operation, order, () => {
          ran.push(scope)
          return scope
        }),
      )
    expect((await runFor('tenant-1')).value).toBe('tenant-1')
    // Never the answer of another tenant.
    expect((await runFor('tenant-2')).value).toBe('tenant-2')
    expect(await old(order)).toBe('tenant-1')
    expect(ran).toEqual(['tenant-1', 'tenant-2'])
  })

  test('without a key is not protected there, as it was not before', async () => {
    const { next, ran, tableName } = await twoVersions({ records: { key: () => undefined } })
    await next(order)
    expect(ran).toEqual(['new'])
    expect(await items(tableName)).toEqual([])
  })
})

test('of both versions that race for one order, in any number, one does it', async () => {
  const { old, next, ran } = await twoVersions()
  for (let round = 1; round <= 20; round++) {
    const raced: Order = { id: `raced-${round}`, total: round }
    ran.length = 0
    const racers = Array.from({ length: 6 }, (_, index) =>
      index % 2 === 0 ? old(raced, () => 'done') : next(raced, () => 'done'),
    )
    const answers = await Promise.allSettled(racers)
    expect(ran).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 'fulfilled')
        expect([answer.value, Reflect.get(Object(answer.value), 'value')]).toContain('done')
    }
    expect(await old(raced, () => 'again')).toBe('done')
    expect((await next(raced, () => 'again')).value).toBe('done')
  }
})
