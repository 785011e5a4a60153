import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { RetryError, type RetryPolicy, retry } from '../../lib/retry/index.ts'
import { instantClock } from './instant-clock.ts'

const down = () => Object.assign(new Error('down'), { status: 503 })
const policy = (maxAttempts: number, more: RetryPolicy = {}): RetryPolicy => ({
  maxAttempts,
  clock: instantClock(),
  ...more,
})

/** Layers of retries around one call, the outermost first; answers how often the call was made. */
async function callsThrough(attempts: readonly number[], between: (work: () => Promise<unknown>) => Promise<unknown>) {
  const call = vi.fn(async () => {
    throw down()
  })
  const nested = attempts.reduceRight<() => Promise<unknown>>(
    (inner, maxAttempts) => () => retry(() => between(inner), policy(maxAttempts)),
    call,
  )
  const error: unknown = await nested().catch((reason: unknown) => reason)
  return { calls: call.mock.calls.length, error }
}

/** A layer of a user's own that says something else failed, so that only the async context can tell. */
const rephrased = (work: () => Promise<unknown>) => work().catch(() => Promise.reject(down()))

describe('retries inside retries', () => {
  test('three layers of 3 attempts make 3 calls, not 27', async () => {
    const { calls, error } = await callsThrough([3, 3, 3], (work) => work())
    expect(calls).toBe(3)
    expect(error).toMatchObject({ code: 'RETRY_GAVE_UP', attempts: 3 })
  })

  test('even where a layer in between hides the inner one’s error', async () => {
    expect((await callsThrough([3, 3, 3], rephrased)).calls).toBe(3)
  })

  test.each([
    [[5, 2, 4], 2],
    [[2, 5, 5], 2],
    [[4, 4, 2], 2],
    [[1, 3, 3], 1],
    [[3, 1, 1], 3],
    [[3, 1, 3], 3],
  ])('layers of %j attempts make %i calls: the most sparing one that retries decides', async (attempts, calls) => {
    expect((await callsThrough(attempts, (work) => work())).calls).toBe(calls)
  })

  test('of which only the outermost may retry nothing add nothing to the error', async () => {
    expect((await callsThrough([1, 3], (work) => work())).error).toMatchObject({ message: 'down', status: 503 })
  })

  test('share their attempts among the calls of one work', async () => {
    const first = vi.fn(async () => {
      if (first.mock.calls.length < 2) throw down()
    })
    const second = vi.fn(async () => {
      throw down()
    })
    await retry(async () => {
      await retry(first, policy(3))
      await retry(second, policy(3))
    }, policy(3)).catch(() => undefined)
    expect(first).toHaveBeenCalledTimes(2)
    expect(second).toHaveBeenCalledTimes(2)
  })

  test('beside each other have attempts of their own', async () => {
    const calls = await Promise.all([callsThrough([3], (work) => work()), callsThrough([3], (work) => work())])
    expect(calls.map((each) => each.calls)).toEqual([3, 3])
  })

  test('end by the outer one’s deadline', async () => {
    const clock = instantClock()
    const call = vi.fn(async () => {
      throw down()
    })
    const slow: RetryPolicy = { clock, random: () => 1, baseDelaySeconds: 1, maxDelaySeconds: 1, maxAttempts: 50 }
    const error: unknown = await retry(() => retry(call, { ...slow, totalSeconds: 60 }), {
      ...slow,
      totalSeconds: 5,
    }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ reason: 'deadline' })
    expect(call).toHaveBeenCalledTimes(5)
  })

  test('end by the outer one’s signal', async () => {
    const abort = new AbortController()
    const reason = new Error('lease lost')
    const call = vi.fn(async () => {
      abort.abort(reason)
      throw down()
    })
    const nested = retry(() => retry(call, policy(9)), policy(9, { signal: abort.signal }))
    await expect(nested).rejects.toBe(reason)
    expect(call).toHaveBeenCalledTimes(1)
  })

  test('are none when the outer one has ended: what outlives it stands alone', async () => {
    const call = vi.fn(async () => {
      throw down()
    })
    let late: Promise<unknown> = Promise.resolve()
    await retry(() => {
      late = delay(1).then(() => retry(call, policy(3)))
      late.catch(() => undefined)
    }, policy(1))
    await expect(late).rejects.toBeInstanceOf(RetryError)
    expect(call).toHaveBeenCalledTimes(3)
  })
})
