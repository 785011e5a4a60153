import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type Asked, SOURCES } from '../http/events.ts'
import { setUp } from '../http/harness.ts'

const KB = 1_024

/** What cannot be a key, however it is written. */
const hostile = fc.oneof(
  fc.constantFrom('x'.repeat(256), 'x'.repeat(100 * KB), 'é'.repeat(128), '😀'.repeat(64), '"'.repeat(100 * KB)),
  fc.constantFrom(`"${'\\"'.repeat(50 * KB)}"`, ','.repeat(100 * KB), `a${','.repeat(50 * KB)}b`, '"a", "b"', 'a,b'),
  fc.constantFrom('"unclosed', '"a" b', '"a"b"', '"\\n"', '"\u00e9"', '\\"'),
  fc
    .tuple(fc.string(), fc.integer({ min: 0, max: 0x1f }), fc.string())
    .map(([a, code, b]) => `k${a}${String.fromCharCode(code)}${b}k`),
  fc.constantFrom('a\u007fb', 'a\u0085b', 'a\r\nSet-Cookie: b=c', 'a\u0000'),
  fc.tuple(fc.string(), fc.constantFrom('\ud800', '\udfff')).map((parts) => parts.join('x')),
)

describe.each(Object.entries(SOURCES))('%s', (source, make) => {
  const anonymous = source.startsWith('ALB') ? { anonymous: true } : {}

  async function ask(asked: Asked, change: (event: Record<string, unknown>) => unknown = (event) => event) {
    const { serve, store } = setUp(anonymous)
    const handle = vi.fn(() => ({ statusCode: 201, body: '' }))
    const answer = await serve(handle)(change(make(asked) as unknown as Record<string, unknown>))
    return { answer, calls: store.calls, runs: handle.mock.calls.length }
  }

  test('a key that cannot be one is answered without a store call, and not repeated to its sender', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (key) => {
        const { answer, calls, runs } = await ask({ key })
        expect([answer.statusCode, calls, runs]).toEqual([400, [], 0])
        expect(JSON.parse(answer.body).type).toMatch(/problems\/(invalid|missing)-key$/)
        expect(answer.body.length).toBeLessThan(400)
      }),
      { numRuns: 150 },
    )
  })

  test('ten thousand headers beside it change nothing', async () => {
    const headers = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`x-${n}`, 'y'.repeat(100)]))
    const { answer, calls, runs } = await ask({ headers, key: undefined })
    expect([answer.statusCode, calls, runs]).toEqual([400, [], 0])
    const good = await ask({ headers })
    expect([good.answer.statusCode, good.calls.length, good.runs]).toEqual([201, 2, 1])
  })

  test('ten thousand keys are one too many', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => `key-${n}`)
    const { answer, calls, runs } = await ask({}, (event) => ({
      ...event,
      headers: { ...(event.headers as object), 'idempotency-key': many.join(',') },
      ...('multiValueHeaders' in event && {
        multiValueHeaders: { ...(event.multiValueHeaders as object), 'idempotency-key': many },
      }),
    }))
    expect([answer.statusCode, calls, runs]).toEqual([400, [], 0])
  })

  test('headers that are no headers are answered without a store call', async () => {
    for (const headers of [null, 7, 'idempotency-key: a', [], { 'idempotency-key': { a: 1 } }]) {
      const { serve, store } = setUp(anonymous)
      const event = { ...make(), headers, ...('multiValueHeaders' in make() && { multiValueHeaders: headers }) }
      const answer = await serve(() => ({ statusCode: 201 }))(event)
      expect([answer.statusCode, store.calls]).toEqual([400, []])
    }
  })
})
