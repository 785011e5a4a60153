import middy from '@middy/core'
import { describe, expect, test } from 'vitest'
import type { OperationRecord } from '../../lib/index.ts'
import { createIdempotency, type Operation } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { decideClaim } from '../../lib/record/decide.ts'
import { gate, setUp as queue } from '../batch/set-up.ts'
import { event, message } from '../batch/sqs-event.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { codeOf, ORDER, setUp } from '../core/harness.ts'
import { httpEvent, lambdaContext } from '../http/events.ts'
import { type Answered, headerOf, setUp as http } from '../http/harness.ts'

const never = () => new Promise<never>(() => undefined)
const context = (remainingMs?: unknown) => ({ getRemainingTimeInMillis: () => remainingMs as number })

/** An execution that was frozen, or killed, in the middle of its work. */
function begun({ idempotency }: ReturnType<typeof setUp>, remainingMs: unknown = 3_000) {
  return new Promise<Operation>((resolve) => {
    void idempotency.run({ ...ORDER, context: context(remainingMs) }, (operation) => {
      resolve(operation)
      return never()
    })
  })
}

describe('Leases, time-outs and takeovers', () => {
  test('A function hit its time limit: retries are refused only until its lease ends, not until the record expires', async () => {
    const world = setUp()
    await begun(world, 3_000)
    world.clock.advance(2_999)
    expect(await codeOf(world.idempotency.run(ORDER, () => 'again'))).toBe('IN_PROGRESS')
    // The margin and the clock skew, a second each.
    world.clock.advance(2_002)
    expect(await world.idempotency.run(ORDER, () => 'again')).toMatchObject({ value: 'again', attempt: 2 })
  })

  test.each([0, -5, undefined])(
    'No time left is a number, not "no deadline": every record has a lease (%s ms)',
    async (remainingMs) => {
      const world = setUp()
      await begun(world, remainingMs)
      expect(world.record()?.leaseUntil).toBeGreaterThan(world.clock.now())
    },
  )

  test('Money must not move again because a function timed out: the lease has a length of its own, and a takeover can be forbidden', async () => {
    const long = setUp({ leaseSeconds: 3_600 })
    await begun(long, 3_000)
    long.clock.advance(10_000)
    expect(await codeOf(long.idempotency.run(ORDER, () => 'again'))).toBe('IN_PROGRESS')
    const forbidden = setUp({ takeover: 'never' })
    await begun(forbidden, 3_000)
    forbidden.clock.advance(86_400_000)
    expect(await codeOf(forbidden.idempotency.run(ORDER, () => 'again'))).toBe('IN_PROGRESS')
  })

  test('One "now" served for seconds and for milliseconds: each attribute has its own unit', async () => {
    const world = setUp()
    await begun(world)
    const { expiresAt, leaseUntil } = world.record()!
    expect([String(expiresAt).length, String(leaseUntil).length]).toEqual([10, 13])
  })

  test('A record without a lease was judged free: it counts as live', () => {
    const record = {
      status: 'IN_PROGRESS',
      token: 'a',
      rev: 1,
      attempt: 1,
      takeover: 'auto',
      fingerprint: 'none',
      steps: {},
    }
    const me = { token: 'b', fingerprint: 'none' }
    expect(decideClaim(record as unknown as OperationRecord, me, { nowMs: 2 ** 50, clockSkewMs: 0 })).toEqual({
      kind: 'in-progress',
    })
  })

  test.each(['release', 'fail'] as const)(
    'A slow worker gave up and took the lock of the one that had taken over: nothing is written without the token (%s)',
    async (how) => {
      const world = setUp()
      const slow = gate()
      const first = world.idempotency.run({ ...ORDER, context: context(1_000) }, async (operation) => {
        await slow.opened
        if (how === 'release') return operation.release()
        throw new Error('late')
      })
      await new Promise(setImmediate)
      world.clock.advance(5_000)
      const other = gate()
      const second = world.idempotency.run(ORDER, () => other.opened.then(() => 'second'))
      await new Promise(setImmediate)
      const before = world.record()
      expect(before).toMatchObject({ status: 'IN_PROGRESS', attempt: 2 })
      slow.open()
      await first.catch(() => undefined)
      expect(world.record()).toEqual(before)
      other.open()
      expect(await second).toMatchObject({ value: 'second' })
    },
  )

  test('A late completion overwrote the newer owner’s, or brought a deleted record back: it changes nothing', async () => {
    const taken = setUp()
    const slow = gate()
    const first = taken.idempotency.run({ ...ORDER, context: context(1_000) }, () => slow.opened.then(() => 'A'))
    await new Promise(setImmediate)
    taken.clock.advance(5_000)
    await taken.idempotency.run(ORDER, () => 'B')
    slow.open()
    expect(await first).toMatchObject({ value: 'B' })

    const gone = setUp()
    const late = gate()
    const lost = gone.idempotency.run(ORDER, () => late.opened.then(() => 'A'))
    await new Promise(setImmediate)
    gone.memory.remove(gone.record()!.id)
    late.open()
    expect(await codeOf(lost)).toBe('LEASE_LOST')
    expect(gone.memory.records()).toEqual([])
  })

  test('A lock that was released and claimed in one millisecond raced with its own cleanup: it works at once', async () => {
    const world = setUp()
    await world.idempotency.run(ORDER, (operation) => operation.release())
    expect(await world.idempotency.run(ORDER, () => 'now')).toMatchObject({ value: 'now', attempt: 1 })
  })

  test('One failure ended the invocation while another record still ran: every started record is awaited', async () => {
    const slow = gate()
    const ended: string[] = []
    const { deliver } = queue({
      work: async (id) => {
        if (id === '1') throw new Error('boom')
        await slow.opened
        ended.push(id)
      },
    })
    let answered = false
    const answer = deliver(event(message('1'), message('2'))).then((failures) => {
      answered = true
      return failures
    })
    await new Promise(setImmediate)
    expect(answered).toBe(false)
    slow.open()
    expect(await answer).toEqual(['1'])
    expect(ended).toEqual(['2'])
  })

  test('Middy gave up early while the handler was still charging: the key stays in progress', async () => {
    const { middleware, store } = http()
    let charges = 0
    const handler = middy({ timeoutEarlyInMillis: 29_999 })
      .use(middleware as middy.MiddlewareObj)
      .handler((async () => {
        charges += 1
        return never()
      }) as never) as unknown as (event: unknown, context: unknown) => Promise<Answered>
    expect(await handler(httpEvent(), lambdaContext())).toMatchObject({ statusCode: 504 })
    expect(store.records().map(({ status }) => status)).toEqual(['IN_PROGRESS'])
    expect(await handler(httpEvent(), lambdaContext())).toMatchObject({ statusCode: 409 })
    expect(charges).toBe(1)
  })

  test('Locks kept alive by a timer died with the frozen sandbox: a lease is extended on purpose, and each claim has a later fence', async () => {
    const world = setUp()
    const first = await begun(world)
    const fences = [first.fence]
    for (const _ of [2, 3]) {
      world.clock.advance(10_000)
      fences.push((await begun(world)).fence)
    }
    expect(fences).toEqual([...fences].sort())
    expect(new Set(fences).size).toBe(3)
    expect(await codeOf(first.extend(60))).toBe('LEASE_LOST')
  })

  test('A clock that was ahead stole a live lease: the difference of two clocks is allowed for', async () => {
    const clock = fakeClock()
    const store = memoryStore()
    const slow = createIdempotency({ store, clock, namespace: 'payments' })
    const ahead = createIdempotency({ store, clock: { ...clock, now: () => clock.now() + 900 }, namespace: 'payments' })
    void slow.run({ ...ORDER, context: context(2_000) }, never)
    await new Promise(setImmediate)
    clock.advance(3_000)
    expect(await codeOf(ahead.run(ORDER, () => 'stolen'))).toBe('IN_PROGRESS')
    clock.advance(200)
    expect(await ahead.run(ORDER, () => 'taken over')).toMatchObject({ attempt: 2 })
  })

  test('An id made when the module was loaded was shared by clones of one snapshot: every claim makes its own token', async () => {
    const world = setUp()
    for (let n = 0; n < 1_000; n++) await world.idempotency.run({ key: `k-${n}`, input: n }, () => n)
    expect(new Set(world.memory.records().map(({ token }) => token)).size).toBe(1_000)
  })

  test('A short function never lived long enough to watch a lock expire: the takeover is one write, without waiting', async () => {
    const world = setUp()
    await begun(world)
    world.clock.advance(10_000)
    world.store.calls.length = 0
    const before = world.clock.now()
    await world.idempotency.run({ ...ORDER, context: context(1_000) }, () => 'now')
    expect(world.store.calls).toEqual(['put', 'update', 'update'])
    expect(world.clock.now()).toBe(before)
  })

  test('After a crash clients got 409 for ever: it says when to come again, and then it runs', async () => {
    const clock = fakeClock()
    const { serve } = http({}, { clock })
    let calls = 0
    const handler = serve(() => (++calls === 1 ? never() : { statusCode: 200, body: 'done' }))
    void handler(httpEvent(), lambdaContext(10_000))
    await new Promise(setImmediate)
    const retryAfter = async () => {
      const answer = await handler(httpEvent())
      return [answer.statusCode, Number(headerOf(answer, 'Retry-After'))]
    }
    expect(await retryAfter()).toEqual([409, 12])
    clock.advance(9_000)
    expect(await retryAfter()).toEqual([409, 3])
    clock.advance(3_001)
    expect((await handler(httpEvent())).statusCode).toBe(200)
  })

  test('Saving the result failed after the work was done, and the error path deleted the record: it is never released', async () => {
    const faults = Array.from({ length: 40 }, () => 'not-applied' as const)
    const world = setUp({}, { update: faults })
    let calls = 0
    const run = () => world.idempotency.run({ ...ORDER, context: context(5_000) }, () => ++calls)
    expect(await codeOf(run())).toBe('OUTCOME_NOT_RECORDED')
    expect(world.record()).toMatchObject({ status: 'IN_PROGRESS' })
    expect(await codeOf(run())).toBe('IN_PROGRESS')
    expect(calls).toBe(1)
  })
})
