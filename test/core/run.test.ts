import { describe, expect, test, vi } from 'vitest'
import { createIdempotency, NoEffectError, type Operation, PermanentError, RetryLater } from '../../lib/index.ts'
import { codeOf, ORDER, setUp } from './harness.ts'

describe('a repetition', () => {
  test.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty string', ''],
    ['zero', 0],
    ['false', false],
    [
      'values JSON has no word for',
      {
        d: new Date(0),
        a: [1, undefined, 2],
        big: 2n ** 60n,
        s: new Set([1]),
        m: new Map([['k', Number.NaN]]),
        b: Buffer.from('x'),
        e: '',
      },
    ],
    ['a large value', 'x'.repeat(100_000)],
  ])('is answered with the stored value: %s', async (_name, value) => {
    const { idempotency } = setUp()
    const work = vi.fn(async () => value)
    expect(await idempotency.run(ORDER, work)).toEqual({ value, replayed: false, attempt: 1 })
    expect(await idempotency.run(ORDER, work)).toEqual({ value, replayed: true, attempt: 1 })
    expect(work).toHaveBeenCalledTimes(1)
  })

  test('with another input is a mismatch and touches nothing', async () => {
    const { idempotency, record } = setUp()
    await idempotency.run(ORDER, () => 1)
    const before = record()
    const work = vi.fn()
    expect(await codeOf(idempotency.run({ ...ORDER, input: { amount: 999 } }, work))).toBe('MISMATCH')
    expect(work).not.toHaveBeenCalled()
    expect(record()).toEqual(before)
  })

  test('while the first one runs is refused, with the seconds until its lease ends', async () => {
    const { idempotency, clock } = setUp({ leaseSeconds: 10 })
    await idempotency.run(ORDER, async () => {
      clock.advance(4_000)
      const refusal = idempotency.run(ORDER, () => 2)
      await expect(refusal).rejects.toMatchObject({ code: 'IN_PROGRESS', retryable: true, retryAfterSeconds: 7 })
    })
  })

  test('after the retention is over runs again', async () => {
    const { idempotency, clock } = setUp({ retentionSeconds: 60 })
    await idempotency.run(ORDER, () => 1)
    clock.advance(59_000)
    expect((await idempotency.run(ORDER, () => 2)).value).toBe(1)
    clock.advance(2_000)
    expect((await idempotency.run(ORDER, () => 3)).value).toBe(3)
  })

  test('under another scope or namespace is another operation', async () => {
    const { idempotency, store, clock } = setUp()
    const other = createIdempotency({ store, clock, namespace: 'invoices' })
    expect((await idempotency.run({ ...ORDER, scope: ['a'] }, () => 'a')).value).toBe('a')
    expect((await idempotency.run({ ...ORDER, scope: ['b'] }, () => 'b')).value).toBe('b')
    expect((await idempotency.run(ORDER, () => 'none')).value).toBe('none')
    expect((await other.run(ORDER, () => 'invoice')).value).toBe('invoice')
  })

  test('of many at once runs the work once', async () => {
    const { idempotency } = setUp()
    const work = vi.fn(async () => 'done')
    const answers = await Promise.allSettled(Array.from({ length: 50 }, () => idempotency.run(ORDER, work)))
    expect(work).toHaveBeenCalledTimes(1)
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('an error of the work', () => {
  test.each<[string, unknown, string | undefined, string]>([
    ['is stored, since an effect may have happened', new Error('boom'), 'FAILED', 'OPERATION_FAILED'],
    ['is stored when it is permanent', new PermanentError('no'), 'FAILED', 'OPERATION_FAILED'],
    ['releases the key when nothing happened', new NoEffectError(), 'RELEASED', 'ran'],
    ['leaves the operation to be resumed when running again is safe', new RetryLater(), 'RETRYABLE', 'ran'],
  ])('%s', async (_name, error, status, next) => {
    const { idempotency, record } = setUp()
    await expect(idempotency.run(ORDER, () => Promise.reject(error))).rejects.toBe(error)
    expect(record()?.status).toBe(status)
    const outcome = await idempotency
      .run(ORDER, () => 'ran')
      .then(
        ({ value }) => value,
        (thrown: { code: string }) => thrown.code,
      )
    expect(outcome).toBe(next)
  })

  test('means what onError says', async () => {
    const { idempotency, record } = setUp({ onError: (error) => (error instanceof RangeError ? 'resume' : undefined) })
    await expect(idempotency.run(ORDER, () => Promise.reject(new RangeError('x')))).rejects.toThrow(RangeError)
    expect(record()?.status).toBe('RETRYABLE')
    await expect(idempotency.run(ORDER, () => Promise.reject(new TypeError('y')))).rejects.toThrow(TypeError)
    expect(record()?.status).toBe('FAILED')
  })

  test('thrown synchronously counts as thrown', async () => {
    const { idempotency, record } = setUp()
    const work = () => {
      throw new Error('sync')
    }
    await expect(idempotency.run(ORDER, work)).rejects.toThrow('sync')
    expect(record()?.status).toBe('FAILED')
  })

  test('in a later attempt never releases, as an earlier one may have had effects', async () => {
    const { idempotency, record } = setUp()
    await expect(idempotency.run(ORDER, () => Promise.reject(new RetryLater()))).rejects.toThrow()
    await expect(idempotency.run(ORDER, () => Promise.reject(new NoEffectError()))).rejects.toThrow()
    expect(record()).toMatchObject({ status: 'FAILED', attempt: 2 })
  })
})

describe('a lease', () => {
  const context = (remainingMs: number) => ({ getRemainingTimeInMillis: () => remainingMs })

  test.each([
    [3_000, 4_000],
    [0, 1_000],
    [-5, 1_000],
  ])('is the remaining time of %i ms and the margin', async (remainingMs, leaseMs) => {
    const { idempotency, record, clock } = setUp()
    await idempotency.run({ ...ORDER, context: context(remainingMs) }, () => {
      expect(record()?.leaseUntil).toBe(clock.now() + leaseMs)
    })
  })

  test('is leaseSeconds whatever the remaining time, and 900 s where neither is known', async () => {
    const { idempotency, record, clock } = setUp({ leaseSeconds: 3_600 })
    await idempotency.run({ ...ORDER, context: context(10) }, () => {
      expect(record()?.leaseUntil).toBe(clock.now() + 3_600_000)
    })
    const other = setUp()
    await other.idempotency.run(ORDER, () => {
      expect(other.record()?.leaseUntil).toBe(other.clock.now() + 900_000)
    })
  })

  test('that is over by more than the clock skew lets the next delivery take over, with attempt 2 and a later fence', async () => {
    const { idempotency, clock, types } = setUp({ leaseSeconds: 10 })
    const fences: string[] = []
    const first = idempotency.run(ORDER, async (operation) => {
      fences.push(operation.fence)
      clock.advance(11_000)
      expect(await codeOf(idempotency.run(ORDER, () => 'too early'))).toBe('IN_PROGRESS')
      clock.advance(1)
      const second = await idempotency.run(ORDER, (taken) => {
        fences.push(taken.fence)
        return 'winner'
      })
      expect(second).toEqual({ value: 'winner', replayed: false, attempt: 2 })
      return 'late loser'
    })
    expect(await first).toEqual({ value: 'winner', replayed: true, attempt: 2 })
    expect(fences).toEqual([...fences].sort())
    expect(new Set(fences).size).toBe(2)
    expect(types()).toEqual(['claimed', 'conflicted', 'taken-over', 'completed', 'lease-lost'])
  })

  test('that was lost to a running execution answers LEASE_LOST and writes nothing', async () => {
    const { idempotency, clock, record } = setUp({ leaseSeconds: 10 })
    let release: (() => void) | undefined
    let second: Promise<unknown> | undefined
    const first = idempotency.run(ORDER, async () => {
      clock.advance(12_000)
      await new Promise<void>((started) => {
        second = idempotency.run(ORDER, async () => {
          started()
          await new Promise<void>((resolve) => {
            release = resolve
          })
        })
      })
    })
    expect(await codeOf(first)).toBe('LEASE_LOST')
    expect(record()).toMatchObject({ status: 'IN_PROGRESS', attempt: 2 })
    release?.()
    await second
  })

  test("with takeover 'never' stays in progress for ever", async () => {
    const { idempotency, clock, record } = setUp({ leaseSeconds: 10, takeover: 'never' })
    await idempotency.run(ORDER, async () => {
      expect(record()?.expiresAt).toBeUndefined()
      clock.advance(400 * 86_400_000)
      const error = await idempotency.run(ORDER, () => 2).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'IN_PROGRESS', retryAfterSeconds: undefined })
    })
  })

  test('can be extended by its holder, and not by one who lost it', async () => {
    const { idempotency, clock, record } = setUp({ leaseSeconds: 10 })
    const first = idempotency.run(ORDER, async (operation) => {
      clock.advance(9_000)
      await operation.extend()
      expect(record()?.leaseUntil).toBe(clock.now() + 10_000)
      await operation.extend(60)
      expect(record()?.leaseUntil).toBe(clock.now() + 60_000)
      await operation.extend(5)
      expect(record()?.leaseUntil).toBe(clock.now() + 60_000)
      clock.advance(61_001)
      await idempotency.run(ORDER, () => 'winner')
      await expect(operation.extend()).rejects.toMatchObject({ code: 'LEASE_LOST' })
      expect(operation.signal.aborted).toBe(true)
      return 'loser'
    })
    expect((await first).value).toBe('winner')
  })

  test('that is about to run out aborts the signal; one that is extended does not', async () => {
    const { idempotency, clock } = setUp({ leaseSeconds: 10 })
    await idempotency.run(ORDER, async ({ signal, extend }) => {
      clock.advance(9_000)
      await extend()
      clock.advance(9_000)
      await Promise.resolve()
      expect(signal.aborted).toBe(false)
      clock.advance(600)
      await vi.waitFor(() => expect(signal.aborted).toBe(true))
    })
  })
})

describe('the signal', () => {
  test('aborts before the invocation ends, although the lease outlasts it', async () => {
    const { idempotency, clock } = setUp()
    const context = { getRemainingTimeInMillis: () => 3_000 }
    await idempotency.run({ ...ORDER, context }, async ({ signal, extend }) => {
      clock.advance(2_400)
      await extend(60)
      expect(signal.aborted).toBe(false)
      clock.advance(100)
      await vi.waitFor(() => expect(signal.aborted).toBe(true))
    })
  })
})

describe('a release asked for by the work', () => {
  test('in a later attempt stores the outcome, since an earlier one may have had effects', async () => {
    const { idempotency, record } = setUp()
    await expect(idempotency.run(ORDER, () => Promise.reject(new RetryLater()))).rejects.toThrow()
    const invalid = ({ release }: Operation) => {
      release()
      return 'invalid'
    }
    expect((await idempotency.run(ORDER, invalid)).value).toBe('invalid')
    expect(record()?.status).toBe('COMPLETED')
    expect(await idempotency.run(ORDER, () => 'ran')).toMatchObject({ value: 'invalid', replayed: true })
  })

  test('frees the key once the work has returned', async () => {
    const { idempotency, record } = setUp()
    const answer = await idempotency.run(ORDER, (operation) => {
      operation.release()
      expect(record()?.status).toBe('IN_PROGRESS')
      return 'not stored'
    })
    expect(answer.value).toBe('not stored')
    expect(record()).toMatchObject({ status: 'RELEASED' })
    expect((await idempotency.run({ ...ORDER, input: 'corrected' }, () => 'ran')).value).toBe('ran')
  })

  test('keeps fences ordered over a release, also where the clock ticks while the next claim is made', async () => {
    const { store, clock } = setUp()
    const at = clock.now()
    const fences: string[] = []
    const claimAt = (now: () => number, release: boolean) =>
      createIdempotency({ store, namespace: 'orders', clock: { ...clock, now } }).run(ORDER, (operation) => {
        fences.push(operation.fence)
        if (release) operation.release()
      })
    await claimAt(() => at, true)
    let ticking = at
    await claimAt(() => ticking++, false)
    expect(new Set(fences).size).toBe(2)
    expect([...fences].sort()).toEqual(fences)
  })

  test('keeps fences ordered over a release in the same millisecond', async () => {
    const { idempotency } = setUp()
    const fences: string[] = []
    for (let n = 0; n < 3; n++) {
      await idempotency.run(ORDER, (operation) => {
        fences.push(operation.fence)
        operation.release()
      })
    }
    expect(new Set(fences).size).toBe(3)
    expect([...fences].sort()).toEqual(fences)
  })
})

describe('an outcome that cannot be stored', () => {
  test('ends as failed, is not run again, and its first caller still gets the value', async () => {
    const { idempotency, record } = setUp()
    const value = { list: [{ send: () => 1 }] }
    expect((await idempotency.run(ORDER, () => value)).value).toBe(value)
    expect(record()?.outcome).toMatchObject({
      kind: 'failure',
      failure: { code: 'OUTCOME_UNSTORABLE', message: expect.stringContaining('result.list[0].send') },
    })
    expect(await codeOf(idempotency.run(ORDER, () => 'again'))).toBe('OPERATION_FAILED')
  })
})

describe('a wrapped function', () => {
  test('runs once per key and passes its arguments through', async () => {
    const { idempotency } = setUp()
    const issue = vi.fn(async (order: { id: string; amount: number }) => `invoice for ${order.amount}`)
    const issueOnce = idempotency.wrap(issue, { key: (order) => order.id, input: (order) => order })
    expect(await issueOnce({ id: '1', amount: 5 })).toBe('invoice for 5')
    expect(await issueOnce({ amount: 5, id: '1' })).toBe('invoice for 5')
    expect(await codeOf(issueOnce({ id: '1', amount: 6 }))).toBe('MISMATCH')
    expect(issue).toHaveBeenCalledTimes(1)
  })
})

test('an observer that throws changes nothing', async () => {
  const { idempotency } = setUp({
    observer: () => {
      throw new Error('observer')
    },
  })
  expect((await idempotency.run(ORDER, () => 1)).value).toBe(1)
})

test('a handler may change its input: the operation was identified at the claim', async () => {
  const { idempotency } = setUp()
  const input = { amount: 1 }
  await idempotency.run({ key: 'k', input }, () => {
    input.amount = 2
  })
  expect((await idempotency.run({ key: 'k', input: { amount: 1 } }, () => 'again')).replayed).toBe(true)
})

test('a takeover by a caller without a fingerprint keeps the one of the record', async () => {
  const { idempotency, record } = setUp()
  await expect(idempotency.run(ORDER, () => Promise.reject(new RetryLater()))).rejects.toThrow()
  const before = record()?.fingerprint
  await idempotency.run({ key: ORDER.key, fingerprint: false }, () => 'taken over')
  expect(record()?.fingerprint).toBe(before)
})

test('an onError that throws leaves the error to the default table, and is reported', async () => {
  const { idempotency, record, types } = setUp({
    onError: () => {
      throw new Error('bug in onError')
    },
  })
  await expect(idempotency.run(ORDER, () => Promise.reject(new Error('boom')))).rejects.toThrow('boom')
  expect(record()?.status).toBe('FAILED')
  expect(types()).toEqual(['claimed', 'hook-failed', 'failed'])
})

test('an observer that rejects changes nothing either', async () => {
  const { idempotency } = setUp({ observer: () => Promise.reject(new Error('observer')) })
  expect((await idempotency.run(ORDER, () => 1)).value).toBe(1)
})

test('an onError that says unknown is obeyed: the operation is not run again', async () => {
  const { idempotency, record } = setUp({ onError: () => 'unknown' })
  expect(await codeOf(idempotency.run(ORDER, () => Promise.reject(new Error('boom'))))).toBe('UNKNOWN_OUTCOME')
  expect(record()?.status).toBe('UNKNOWN')
  expect(await codeOf(idempotency.run(ORDER, () => 'again'))).toBe('UNKNOWN_OUTCOME')
})

test.each([
  ['an object without a prototype', Object.create(null)],
  ['an error whose message is no text', Object.assign(new Error('x'), { message: {}, name: 7 })],
])('%s that is thrown is thrown on, and stored as a failure', async (_name, thrown) => {
  const { idempotency, record } = setUp()
  await expect(idempotency.run(ORDER, () => Promise.reject(thrown))).rejects.toBe(thrown)
  expect(record()?.status).toBe('FAILED')
})
