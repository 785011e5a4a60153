import fc from 'fast-check'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'
import { NoEffectError, PermanentError, RetryLater } from '../../lib/index.ts'
import { jitterMs } from '../../lib/retry/attempts.ts'
import { RetryError, type RetryPolicy, retry, retryBudget } from '../../lib/retry/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { instantClock } from './instant-clock.ts'

const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
const withStatus = (status: number, headers: Record<string, string> = {}) =>
  Object.assign(new Error(`HTTP ${status}`), { status, headers })

/** Work that throws these errors, one a call, and then answers 'done'. */
const failing = (...errors: unknown[]) => {
  const left = [...errors]
  return vi.fn(() => {
    if (left.length > 0) throw left.shift()
    return 'done'
  })
}
const endlessly = (make: () => unknown) =>
  vi.fn(() => {
    throw make()
  })

function setUp(policy: RetryPolicy = {}) {
  const clock = instantClock()
  return { clock, policy: { clock, random: () => 1, ...policy } }
}

async function failureOf(promise: Promise<unknown>): Promise<RetryError> {
  const error: unknown = await promise.then(
    () => expect.fail('it should have failed'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(RetryError)
  return error as RetryError
}

describe('a passing failure is retried', () => {
  const passing: readonly (readonly [string, unknown])[] = [
    ['a reset', reset()],
    ['a reset under "fetch failed"', new TypeError('fetch failed', { cause: reset() })],
    ['a reset two causes down', new Error('charge failed', { cause: new Error('call failed', { cause: reset() }) })],
    ['a time-out of AbortSignal.timeout', new DOMException('too slow', 'TimeoutError')],
    ['a connection time-out of undici', Object.assign(new Error('slow'), { code: 'UND_ERR_CONNECT_TIMEOUT' })],
    ['429', withStatus(429)],
    ['502', withStatus(502)],
    ['503', withStatus(503)],
    ['504', withStatus(504)],
    ['503 in axios’ place', Object.assign(new Error('x'), { response: { status: 503, headers: {} } })],
    ['503 in the AWS SDK’s place', Object.assign(new Error('x'), { $metadata: { httpStatusCode: 503 } })],
  ]

  test.each(passing)('%s', async (_name, error) => {
    const { policy } = setUp()
    const work = failing(error)
    expect(await retry(work, policy)).toBe('done')
    expect(work).toHaveBeenCalledTimes(2)
  })
})

describe('any other failure surfaces at once and untouched', () => {
  const lasting: readonly (readonly [string, unknown])[] = [
    ...[400, 401, 403, 404, 408, 409, 412, 422, 425, 500, 501].map(
      (status) => [String(status), withStatus(status)] as const,
    ),
    ['400 with a Retry-After', withStatus(400, { 'retry-after': '1' })],
    ['400 whose cause is a reset', Object.assign(new Error('bad', { cause: reset() }), { status: 400 })],
    ['a bug', new TypeError('x is not a function')],
    ['a host that does not exist', Object.assign(new Error('x'), { code: 'ENOTFOUND' })],
    ['an abort', new DOMException('aborted', 'AbortError')],
    ['something that is no error', 'no'],
    ['null', null],
    ['RetryLater, which is said to the engine', new RetryLater('later', { cause: reset() })],
    ['NoEffectError', new NoEffectError()],
    ['PermanentError', new PermanentError('never')],
  ]

  test.each(lasting)('%s', async (_name, error) => {
    const { policy, clock } = setUp()
    const work = failing(error)
    await expect(retry(work, policy)).rejects.toBe(error)
    expect(work).toHaveBeenCalledTimes(1)
    expect(clock.waits).toEqual([])
  })

  test('after passing ones as well', async () => {
    const { policy } = setUp()
    const bad = withStatus(400)
    const work = failing(reset(), bad)
    await expect(retry(work, policy)).rejects.toBe(bad)
    expect(work).toHaveBeenCalledTimes(2)
  })

  test('a cause that leads back to itself ends the search', async () => {
    const error = new Error('round')
    error.cause = error
    await expect(retry(failing(error), setUp().policy)).rejects.toBe(error)
  })
})

describe('it stops', () => {
  test('at the cap of attempts, and says how often and over what it failed', async () => {
    const { policy } = setUp({ maxAttempts: 4 })
    const errors = [withStatus(503), reset(), withStatus(429), reset()]
    const work = failing(...errors)
    const error = await failureOf(retry(work, policy))
    expect(work).toHaveBeenCalledTimes(4)
    expect(error).toMatchObject({ code: 'RETRY_GAVE_UP', reason: 'attempts', attempts: 4, retryable: true })
    expect(error.errors).toEqual(errors)
    expect(error.cause).toBe(errors[3])
    expect(error.message).toBe('Gave up after 4 attempts: no attempt is left. Last failure: Error: read ECONNRESET')
  })

  test('before a wait that would end past the deadline', async () => {
    const { policy, clock } = setUp({ maxAttempts: 100, baseDelaySeconds: 1, maxDelaySeconds: 1, totalSeconds: 3.5 })
    const work = endlessly(reset)
    const error = await failureOf(retry(work, policy))
    expect(error).toMatchObject({ reason: 'deadline', attempts: 4 })
    expect(clock.waits).toEqual([1000, 1000, 1000])
  })

  test('when the attempts themselves have used the time up', async () => {
    const { policy, clock } = setUp({ maxAttempts: 100, random: () => 0 })
    const work = vi.fn(() => {
      clock.advance(8_000)
      throw reset()
    })
    expect(await failureOf(retry(work, policy))).toMatchObject({ reason: 'deadline', attempts: 3 })
  })

  test('at once when the other side asks for more time than there is', async () => {
    const { policy, clock } = setUp()
    const error = await failureOf(retry(failing(withStatus(503, { 'Retry-After': '3600' })), policy))
    expect(error).toMatchObject({ reason: 'deadline', attempts: 1 })
    expect(clock.waits).toEqual([])
  })

  test('at an empty budget, which policies of one dependency share', async () => {
    const budget = retryBudget({ maxRetries: 3, retriesPerCall: 0 })
    const first = setUp({ budget, maxAttempts: 3 })
    const second = setUp({ budget, maxAttempts: 5 })
    expect(await failureOf(retry(endlessly(reset), first.policy))).toMatchObject({ reason: 'attempts', attempts: 3 })
    expect(await failureOf(retry(endlessly(reset), second.policy))).toMatchObject({ reason: 'budget', attempts: 2 })
    const third = endlessly(reset)
    expect(await failureOf(retry(third, first.policy))).toMatchObject({ reason: 'budget', attempts: 1 })
    expect(third).toHaveBeenCalledTimes(1)
  })

  test('after one attempt by policy, which adds nothing to the error', async () => {
    const error = reset()
    await expect(retry(failing(error), setUp({ maxAttempts: 1 }).policy)).rejects.toBe(error)
  })
})

describe('the wait', () => {
  test('doubles from the base up to the cap', async () => {
    const { policy, clock } = setUp({ maxAttempts: 7, baseDelaySeconds: 0.1, maxDelaySeconds: 1 })
    await failureOf(retry(endlessly(reset), policy))
    expect(clock.waits).toEqual([100, 200, 400, 800, 1000, 1000])
  })

  test('is anywhere between 0 and that', () => {
    const settings = { baseDelayMs: 100, maxDelayMs: 5_000 }
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(2_000), (chance, retries) => {
        const longest = Math.min(5_000, 100 * 2 ** retries)
        expect(jitterMs(retries, { ...settings, random: () => chance })).toBe(chance * longest)
      }),
    )
  })

  test.each([
    ['seconds', '7'],
    ['a date', new Date(1_700_000_007_000).toUTCString()],
  ])('is not shorter than a Retry-After in %s asks, beyond the cap too', async (_form, retryAfter) => {
    for (const status of [429, 503]) {
      const { policy, clock } = setUp({ random: () => 0.5, baseDelaySeconds: 1 })
      await retry(failing(withStatus(status, { 'retry-after': retryAfter })), policy)
      expect(clock.waits).toEqual([7_500])
    }
  })

  test('reads a Retry-After out of Headers and out of a response', async () => {
    const { policy, clock } = setUp({ random: () => 0 })
    const headers = new Headers({ 'retry-after': '2' })
    await retry(failing(Object.assign(new Error('x'), { response: { status: 503, headers } })), policy)
    await retry(failing(Object.assign(new Error('x'), { status: 429, headers })), policy)
    expect(clock.waits).toEqual([2_000, 2_000])
  })

  test('does not listen to a Retry-After of a gateway', async () => {
    const { policy, clock } = setUp({ random: () => 0 })
    await retry(failing(withStatus(502, { 'retry-after': '7' }), withStatus(504, { 'retry-after': '7' })), policy)
    expect(clock.waits).toEqual([0, 0])
  })
})

describe('a signal that aborts', () => {
  test('ends a wait at once, with its own reason', async () => {
    const clock = fakeClock()
    const abort = new AbortController()
    const work = endlessly(reset)
    const result = retry(work, { clock, random: () => 1, signal: abort.signal })
    const reason = new Error('lease lost')
    abort.abort(reason)
    await expect(result).rejects.toBe(reason)
    expect(work).toHaveBeenCalledTimes(1)
  })

  test('lets nothing begin when it has aborted before', async () => {
    const reason = new Error('too late')
    const work = vi.fn()
    await expect(retry(work, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(work).not.toHaveBeenCalled()
  })

  test('reaches the attempt, and a time-out of it is not retried', async () => {
    const { policy } = setUp()
    const abort = new AbortController()
    const reason = new DOMException('no time left', 'TimeoutError')
    const work = vi.fn(async ({ signal }: { signal: AbortSignal }) => {
      abort.abort(reason)
      signal.throwIfAborted()
    })
    await expect(retry(work, { ...policy, signal: abort.signal })).rejects.toBe(reason)
    expect(work).toHaveBeenCalledTimes(1)
  })
})

describe('a signal that aborts during the last attempt', () => {
  test('surfaces with its own reason, not as a retry that gave up', async () => {
    const { policy } = setUp({ maxAttempts: 2 })
    const abort = new AbortController()
    const reason = new DOMException('no time left', 'TimeoutError')
    const work = async ({ attempt, signal }: { attempt: number; signal: AbortSignal }) => {
      if (attempt === 1) throw reset()
      abort.abort(reason)
      signal.throwIfAborted()
    }
    await expect(retry(work, { ...policy, signal: abort.signal })).rejects.toBe(reason)
  })
})

describe('the time limit of an attempt', () => {
  /** Work that waits for its signal and then fails as the AWS SDK does. */
  const hanging = (clock: { advance(ms: number): void }, advanceMs: number) =>
    vi.fn(async ({ signal }: { signal: AbortSignal }) => {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
      clock.advance(advanceMs)
      await aborted
      throw Object.assign(new Error('Request aborted'), { name: 'AbortError' })
    })

  test('aborts its signal, and the next attempt has a fresh one', async () => {
    const clock = fakeClock()
    const work = hanging(clock, 2_000)
    const error = await failureOf(
      retry(work, { clock, random: () => 0, attemptSeconds: 2, totalSeconds: 60, maxAttempts: 3 }),
    )
    expect(error).toMatchObject({ reason: 'attempts', attempts: 3 })
  })

  test('is never later than the deadline of the whole', async () => {
    const clock = fakeClock()
    const work = hanging(clock, 3_000)
    const error = await failureOf(retry(work, { clock, random: () => 0, attemptSeconds: 10, totalSeconds: 3 }))
    expect(error).toMatchObject({ reason: 'deadline', attempts: 1 })
  })

  test('starts with the attempt, not with the first look at its signal', async () => {
    const clock = fakeClock()
    const work = vi.fn(async (attempt: { signal: AbortSignal }) => {
      clock.advance(2_000)
      const { signal } = attempt
      await new Promise((resolve) => setImmediate(resolve))
      return signal.aborted
    })
    expect(await retry(work, { clock, attemptSeconds: 2 })).toBe(true)
  })

  test('leaves no timer behind', async () => {
    const waiting = new Set<AbortSignal>()
    const clock = {
      now: () => 0,
      async wait(_ms: number, signal?: AbortSignal) {
        if (signal === undefined) return
        waiting.add(signal)
        signal.addEventListener('abort', () => waiting.delete(signal))
      },
    }
    await retry(({ signal }) => signal.aborted, { clock })
    expect(waiting.size).toBe(0)
  })
})

describe('a classifier', () => {
  test('overrides the default where it answers', async () => {
    const { policy, clock } = setUp({
      random: () => 0,
      classify: (failure) => {
        if (!(failure instanceof Error)) return undefined
        if (failure.message === 'HTTP 409') return 'retry'
        if (failure.message === 'HTTP 503') return 'stop'
        return failure.message === 'HTTP 423' ? { retryAfterSeconds: 3 } : undefined
      },
    })
    expect(await retry(failing(withStatus(409)), policy)).toBe('done')
    expect(await retry(failing(withStatus(423)), policy)).toBe('done')
    expect(await retry(failing(withStatus(502)), policy)).toBe('done')
    expect(clock.waits).toEqual([0, 3_000, 0])
    await expect(retry(failing(withStatus(503)), policy)).rejects.toThrow('HTTP 503')
    await expect(retry(failing(withStatus(400)), policy)).rejects.toThrow('HTTP 400')
  })

  test('that answers nonsense is told so', async () => {
    const { policy } = setUp({ classify: (() => true) as never })
    await expect(retry(failing(reset()), policy)).rejects.toThrow(
      'classify must answer "retry", "stop", { retryAfterSeconds } or undefined; got true.',
    )
  })
})

describe('the work', () => {
  test('is told which attempt it makes', async () => {
    const seen: number[] = []
    await retry(({ attempt }) => {
      seen.push(attempt)
      if (attempt < 3) throw reset()
    }, setUp().policy)
    expect(seen).toEqual([1, 2, 3])
  })

  test('gives its type to the result', () => {
    expectTypeOf(retry(() => 1)).toEqualTypeOf<Promise<number>>()
    expectTypeOf(retry(async ({ attempt }) => ({ attempt }))).toEqualTypeOf<Promise<{ attempt: number }>>()
  })
})

describe('a wrong option is refused', () => {
  test.each([
    [{ maxAttempts: 0 }, 'maxAttempts must be a whole number from 1 to 100; got 0.'],
    [{ maxAttempts: 2.5 }, 'maxAttempts must be a whole number from 1 to 100; got 2.5.'],
    [{ totalSeconds: 0 }, 'totalSeconds must be a number of seconds, at least 0.001; got 0.'],
    [{ attemptSeconds: '5' }, 'attemptSeconds must be a number of seconds, at least 0.001; got "5".'],
    [{ maxDelaySeconds: -1 }, 'maxDelaySeconds must be a number of seconds, at least 0; got -1.'],
    [{ baseDelaySeconds: Number.NaN }, 'baseDelaySeconds must be a number of seconds, at least 0; got NaN.'],
    [{ baseDelaySeconds: 100 }, 'baseDelaySeconds must be at most maxDelaySeconds, both in seconds; got 100 and 5.'],
    [{ signal: new AbortController() }, 'signal must be an AbortSignal; got an object.'],
    [{ budget: { maxRetries: 3 } }, 'budget must come from retryBudget(…); got an object.'],
    [{ classify: 'all' }, 'classify must be a function; got "all".'],
    [{ clock: Date }, 'clock must have now() and wait(); got a function.'],
    [{ random: 0.5 }, 'random must be a function; got 0.5.'],
    [{ retries: 3 }, /^retry has no option "retries"\. It takes: maxAttempts, /],
    [3, 'retry expects a policy, an object; got 3.'],
  ])('%o', async (policy, message) => {
    const work = vi.fn()
    const refusal = expect(retry(work, policy as never)).rejects
    await refusal.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(retry(work, policy as never)).rejects.toThrow(message)
    expect(work).not.toHaveBeenCalled()
  })

  test('and so is work that is no function', async () => {
    await expect(retry(Promise.resolve(1) as never)).rejects.toThrow('retry expects a function to call; got an object.')
  })
})
