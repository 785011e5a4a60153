import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { retry, retryBudget } from '../../lib/retry/index.ts'
import { instantClock } from './instant-clock.ts'

const outage = async () => {
  throw Object.assign(new Error('down'), { status: 503 })
}

describe('a retry budget', () => {
  test('keeps an outage from being amplified: 10 % more calls, once the reserve is spent', async () => {
    const budget = retryBudget()
    let calls = 0
    const work = () => {
      calls++
      return outage()
    }
    for (let n = 0; n < 1_000; n++) {
      await retry(work, { budget, clock: instantClock() }).catch(() => undefined)
    }
    // The reserve is full at the start, so the very first call earns nothing.
    expect(calls).toBeGreaterThanOrEqual(1_000 + 10 + 99)
    expect(calls).toBeLessThanOrEqual(1_000 + 10 + 100)
  })

  test('is earned back by calls, up to its maximum', () => {
    const budget = retryBudget({ maxRetries: 2, retriesPerCall: 0.1 })
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false])
    for (let n = 0; n < 9; n++) budget.earn()
    expect(budget.take()).toBe(false)
    budget.earn()
    expect(budget.retriesLeft).toBe(1)
    expect(budget.take()).toBe(true)
    for (let n = 0; n < 100; n++) budget.earn()
    expect(budget.retriesLeft).toBe(2)
  })

  test('never grants more than its reserve and the share of the calls, in any order of the two', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.integer({ min: 0, max: 100 }), fc.array(fc.boolean()), (more, percent, acts) => {
        const maxRetries = 1 + more
        const retriesPerCall = percent / 100
        const budget = retryBudget({ maxRetries, retriesPerCall })
        let calls = 0
        let granted = 0
        for (const isCall of acts) {
          if (isCall) {
            calls++
            budget.earn()
          } else if (budget.take()) granted++
          expect(budget.retriesLeft).toBeLessThanOrEqual(maxRetries)
        }
        expect(granted).toBeLessThanOrEqual(maxRetries + calls * retriesPerCall + 1e-6)
      }),
    )
  })

  test('takes nothing for a retry that another limit forbids', async () => {
    const budget = retryBudget({ maxRetries: 5, retriesPerCall: 0 })
    await retry(outage, { budget, maxAttempts: 1 }).catch(() => undefined)
    await retry(outage, { budget, totalSeconds: 0.001, clock: instantClock() }).catch(() => undefined)
    expect(budget.retriesLeft).toBe(5)
  })

  test.each([
    [{ maxRetries: 0 }, 'maxRetries must be a whole number from 1 to 1000000; got 0.'],
    [{ retriesPerCall: 10 }, 'retriesPerCall must be a number from 0 to 1; got 10.'],
    [{ retriesPerCall: Number.NaN }, 'retriesPerCall must be a number from 0 to 1; got NaN.'],
    [{ perSecond: 1 }, 'retryBudget has no option "perSecond". It takes: maxRetries, retriesPerCall.'],
  ])('refuses %o', (options, message) => {
    expect(() => retryBudget(options as never)).toThrow(message)
  })
})
