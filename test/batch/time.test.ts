import { describe, expect, test, vi } from 'vitest'
import type { Store } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { gate, setUp } from './set-up.ts'
import { event, invocation, message, redelivered } from './sqs-event.ts'

const TEN = Array.from({ length: 10 }, (_, index) => message(`${index}`))

describe('near the deadline', () => {
  test('no record is started and no claim written; the redelivery runs only what was left', async () => {
    let leftMs = 2_350
    const { deliver, ran, memory, clock } = setUp({
      options: { concurrency: 1, deadlineMarginSeconds: 2 },
      work: () => {
        clock.advance(100)
        leftMs -= 100
      },
    })
    const left = TEN.slice(4).map(({ messageId }) => messageId)
    expect(
      await deliver(
        event(...TEN),
        invocation(() => leftMs),
      ),
    ).toEqual(left)
    expect(memory.records().map(({ status }) => status)).toEqual(Array(4).fill('COMPLETED'))
    expect(await deliver(redelivered(event(...TEN)))).toEqual([])
    expect(ran).toEqual(TEN.map(({ messageId }) => messageId))
  })

  test('a record whose claim took until then is not started either, and is given back', async () => {
    let leftMs = 5_000
    const memory = memoryStore()
    const slow: Store = {
      ...memory,
      put: (record, condition) => {
        leftMs = 900
        return memory.put(record, condition)
      },
    }
    const { deliver, ran, reasons } = setUp({ core: { store: slow } })
    const context = () => invocation(() => leftMs)
    expect(await deliver(event(message('1')), context())).toEqual(['1'])
    expect([ran, reasons()]).toEqual([[], ['deadline']])
    expect(memory.records().map(({ status }) => status)).toEqual(['RELEASED'])
  })

  test('a record that was taken over by then goes on: its earlier attempt may have had effects', async () => {
    let leftMs = 5_000
    const memory = memoryStore()
    const slow: Store = {
      ...memory,
      update: (id, change, condition) => {
        if (change.token !== undefined) leftMs = 900
        return memory.update(id, change, condition)
      },
    }
    const { deliver, ran } = setUp({
      core: { store: slow },
      work: (_id, { attempt }) => {
        if (attempt === 1) throw new Error('down')
      },
    })
    const batch = event(message('1'))
    const context = () => invocation(() => leftMs)
    expect(await deliver(batch, context())).toEqual(['1'])
    expect(await deliver(redelivered(batch), context())).toEqual([])
    expect(ran).toEqual(['1', '1'])
  })

  test.each([
    ['999 ms', 999],
    ['0', 0],
    ['less than nothing', -5],
  ])('that is %s away, nothing starts', async (_name, leftMs) => {
    const { deliver, ran, reasons, memory, types } = setUp()
    expect(
      await deliver(
        event(message('1')),
        invocation(() => leftMs),
      ),
    ).toEqual(['1'])
    expect({ ran, reasons: reasons(), records: memory.records() }).toEqual({
      ran: [],
      reasons: ['deadline'],
      records: [],
    })
    expect(types()).toEqual(['rejected'])
  })

  test.each([
    ['exactly the margin', 1_000, 2_000],
    ['0 with a margin of 0', 0, 1_000],
    ['less than nothing with a margin of 0', -5, undefined],
  ])('that is %s away', async (_name, leftMs, leaseMs) => {
    let leaseUntil: number | undefined
    const { deliver, memory, clock } = setUp({
      options: { deadlineMarginSeconds: leftMs > 0 ? 1 : 0 },
      work: () => {
        leaseUntil = memory.records()[0]?.leaseUntil
      },
    })
    await deliver(
      event(message('1')),
      invocation(() => leftMs),
    )
    expect(leaseUntil).toBe(leaseMs === undefined ? undefined : clock.now() + leaseMs)
  })

  test.each([
    ['without a clock', {}],
    ['that is none', undefined],
    ['whose clock is broken', { getRemainingTimeInMillis: () => Number.NaN }],
  ])('of a context %s is not looked at: the lease is the one without a deadline', async (_name, context) => {
    let leaseUntil: number | undefined
    const { handler, memory, clock } = setUp({
      work: () => {
        leaseUntil = memory.records()[0]?.leaseUntil
      },
    })
    await handler(event(message('1')), context as never)
    expect(leaseUntil).toBe(clock.now() + 900_000)
  })

  test('each record’s lease is counted from the time left when it starts', async () => {
    let leftMs = 10_000
    const leases: number[] = []
    const { deliver, memory, clock } = setUp({
      options: { concurrency: 1 },
      work: () => {
        leases.push((memory.records().at(-1)?.leaseUntil ?? 0) - clock.now())
        clock.advance(3_000)
        leftMs -= 3_000
      },
    })
    await deliver(
      event(message('1'), message('2')),
      invocation(() => leftMs),
    )
    expect(leases).toEqual([11_000, 8_000])
  })
})

describe('records that run at the same time', () => {
  test.each([
    [undefined, 10],
    [3, 3],
    [1, 1],
  ])('are at most %s (default 10)', async (concurrency, most) => {
    let running = 0
    let peak = 0
    const { deliver } = setUp({
      options: concurrency === undefined ? {} : { concurrency },
      work: async () => {
        running += 1
        peak = Math.max(peak, running)
        for (let turn = 0; turn < 20; turn++) await undefined
        running -= 1
      },
    })
    await deliver(event(...Array.from({ length: 25 }, (_, index) => message(`${index}`))))
    expect(peak).toBe(most)
  })

  test('have all ended, in the store too, before the answer is given', async () => {
    const slow = gate()
    const { deliver, statuses } = setUp({
      work: async (id) => {
        if (id === '1') throw new Error('at once')
        await slow.opened
      },
    })
    const answered = vi.fn()
    const answer = deliver(event(message('1'), message('2'))).finally(answered)
    await vi.waitFor(() => expect(statuses()).toContain('RETRYABLE'))
    expect(answered).not.toHaveBeenCalled()
    slow.open()
    expect(await answer).toEqual(['1'])
    expect(statuses()).toEqual(['RETRYABLE', 'COMPLETED'])
  })

  test('of two invocations at once have one run between them', async () => {
    const slow = gate()
    const { deliver, ran, clock } = setUp({ work: () => slow.opened })
    const batch = event(message('1'), message('2'))
    const first = deliver(batch)
    await vi.waitFor(() => expect(ran).toHaveLength(2))
    expect(await deliver(redelivered(batch))).toEqual(['1', '2'])
    slow.open()
    expect(await first).toEqual([])
    clock.advance(60_000)
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(ran).toEqual(['1', '2'])
  })
})

describe('the visibility of a message in progress elsewhere', () => {
  async function conflict(options: Parameters<typeof setUp>[0], leaseSeconds: number, leftMs?: () => number) {
    const slow = gate()
    const subject = setUp({ core: { leaseSeconds }, work: () => slow.opened, ...options })
    const batch = event(message('1'))
    const first = subject.deliver(batch)
    await vi.waitFor(() => expect(subject.ran).toHaveLength(1))
    const again = redelivered(batch)
    const answer = await subject.deliver(again, invocation(leftMs))
    slow.open()
    await first
    return { ...subject, answer, again }
  }

  test('is set to the end of the lease, clock skew included', async () => {
    const changeVisibility = vi.fn(async () => undefined)
    const { answer, again } = await conflict({ options: { changeVisibility } }, 20.2)
    expect(answer).toEqual(['1'])
    expect(changeVisibility.mock.calls).toEqual([[again.Records[0], 22]])
  })

  test('is never longer than SQS allows', async () => {
    const changeVisibility = vi.fn(async () => undefined)
    await conflict({ options: { changeVisibility } }, 86_400)
    expect(changeVisibility.mock.calls).toEqual([[expect.anything(), 43_200]])
  })

  test('that cannot be set changes nothing but is reported', async () => {
    const { answer, events } = await conflict(
      { options: { changeVisibility: () => Promise.reject(new Error('denied')) } },
      20,
    )
    expect(answer).toEqual(['1'])
    expect(events).toContainEqual(expect.objectContaining({ type: 'hook-failed', hook: 'changeVisibility' }))
  })

  test('is left alone when the time is over, and for records that failed otherwise', async () => {
    const changeVisibility = vi.fn(async () => undefined)
    const times = [30_000, 500]
    await conflict({ options: { changeVisibility } }, 20, () => times.shift() ?? 0)
    const { deliver } = setUp({
      options: { changeVisibility },
      work: () => {
        throw new Error('boom')
      },
    })
    expect(await deliver(event(message('1')))).toEqual(['1'])
    expect(changeVisibility).not.toHaveBeenCalled()
  })
})

test('a repetition may wait for the outcome of another invocation', async () => {
  const { deliver, ran, clock } = setUp({
    core: { inFlight: { waitSeconds: 5 } },
    work: () => clock.wait(0),
  })
  const batch = event(message('1'))
  expect(await Promise.all([deliver(batch), deliver(redelivered(batch))])).toEqual([[], []])
  expect(ran).toEqual(['1'])
})
