import { describe, expect, test } from 'vitest'
import { createIdempotency, isLambdaOnceError } from '../../lib/index.ts'
import { concurrently, fakeClock, lambdaContext, memoryStore } from '../../lib/testing/index.ts'

describe('fakeClock', () => {
  test('stands still until it is moved', () => {
    const clock = fakeClock(1_000)
    expect(clock.now()).toBe(1_000)
    clock.advance(500)
    expect(clock.now()).toBe(1_500)
  })

  test('is moved by a wait that nothing could end', async () => {
    const clock = fakeClock(0)
    await clock.wait(250)
    expect(clock.now()).toBe(250)
  })

  test('ends a wait with a signal when its time has come, or it aborts', async () => {
    const clock = fakeClock(0)
    const stop = new AbortController()
    const over: string[] = []
    const waits = [
      clock.wait(100, new AbortController().signal).then(() => over.push('first')),
      clock.wait(200, new AbortController().signal).then(() => over.push('second')),
      clock.wait(300, stop.signal).then(() => over.push('stopped')),
    ]
    expect(clock.nextDueMs()).toBe(100)
    clock.advance(99)
    await Promise.resolve()
    expect(over).toEqual([])
    clock.advance(101)
    stop.abort()
    await Promise.all(waits)
    expect(over).toEqual(['first', 'second', 'stopped'])
    expect(clock.nextDueMs()).toBeUndefined()
  })

  test('ends a wait at once whose signal has aborted', async () => {
    const clock = fakeClock(0)
    await clock.wait(100, AbortSignal.abort())
    expect(clock.now()).toBe(0)
  })

  test('does not go back', () => {
    expect(() => fakeClock().advance(-1)).toThrow('advance(ms) must be a number of milliseconds, at least 0; got -1.')
    expect(() => fakeClock(Number.NaN)).toThrow('startMs must be')
  })

  test('takes an engine past a lease', async () => {
    const clock = fakeClock()
    const idempotency = createIdempotency({ store: memoryStore(), clock, namespace: 'orders' })
    const run = (work: () => unknown) =>
      idempotency.run({ key: 'k', input: 1, context: lambdaContext({ clock, remainingSeconds: 10 }) }, work)
    void run(() => new Promise(() => undefined))
    await expect(run(() => 'second')).rejects.toMatchObject({ code: 'IN_PROGRESS' })
    clock.advance(13_000)
    expect(await run(() => 'third')).toMatchObject({ value: 'third', attempt: 2 })
  })
})

describe('lambdaContext', () => {
  test('has the time that is left, and runs by a clock', () => {
    expect(lambdaContext().getRemainingTimeInMillis()).toBe(30_000)
    expect(lambdaContext({ remainingSeconds: 0 }).getRemainingTimeInMillis()).toBe(0)
    const clock = fakeClock()
    const context = lambdaContext({ clock, remainingSeconds: 3 })
    clock.advance(4_000)
    expect(context.getRemainingTimeInMillis()).toBe(-1_000)
  })

  test('has a request id of its own, or the given one', () => {
    expect(lambdaContext().awsRequestId).not.toBe(lambdaContext().awsRequestId)
    expect(lambdaContext({ awsRequestId: 'r' }).awsRequestId).toBe('r')
    expect(lambdaContext({ functionName: 'pay' }).invokedFunctionArn).toMatch(/:function:pay$/)
  })

  test('refuses wrong options', () => {
    expect(() => lambdaContext({ remainingMs: 1 } as never)).toThrow('has no option "remainingMs"')
    expect(() => lambdaContext({ remainingSeconds: -1 })).toThrow('remainingSeconds must be')
  })
})

describe('concurrently', () => {
  test('starts all before any has ended', async () => {
    let running = 0
    const { values } = await concurrently(5, async (index) => {
      running++
      await Promise.resolve()
      return [index, running]
    })
    expect(values).toEqual([0, 1, 2, 3, 4].map((index) => [index, 5]))
  })

  test('lets one of many through, and tells what the others got', async () => {
    const idempotency = createIdempotency({ store: memoryStore(), namespace: 'orders' })
    const { values, errors } = await concurrently(50, () =>
      idempotency.run({ key: 'k', input: 1 }, ({ step }) => step('charge', () => 'charged')),
    )
    expect(values.map(({ value }) => value)).toEqual(['charged'])
    expect(errors.filter((error) => isLambdaOnceError(error, 'IN_PROGRESS'))).toHaveLength(49)
  })

  test('takes what throws at once for an error of its call', async () => {
    const { errors } = await concurrently(2, (index) => {
      throw index
    })
    expect(errors).toEqual([0, 1])
  })

  test('refuses wrong arguments', async () => {
    await expect(concurrently(0, () => 1)).rejects.toThrow('n must be a whole number from 1')
    await expect(concurrently(2, 'call' as never)).rejects.toThrow('needs a number and a function')
  })
})
