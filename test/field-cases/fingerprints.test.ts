import { describe, expect, test } from 'vitest'
import { codeOf, setUp as core } from '../core/harness.ts'
import { type Asked, httpEvent } from '../http/events.ts'
import { setUp } from '../http/harness.ts'

/** How the second request with the key of the first is answered: 201 as a repetition of it, 422 as another one. */
async function second(first: Asked, again: Asked): Promise<number> {
  const { serve } = setUp({ scope: () => 'everybody' })
  const handler = serve(() => ({ statusCode: 201, body: '' }))
  await handler(httpEvent(first))
  return (await handler(httpEvent(again))).statusCode
}

const json = (a: string, b: string) => second({ body: a }, { body: b })

describe('Telling one request from another', () => {
  test('The same JSON in another order of its keys was taken for another request', async () => {
    expect(await json('{"a":1,"b":{"c":[1,2],"d":2}}', '{ "b": {"d":2, "c":[1,2]}, "a":1 }')).toBe(201)
    expect(await json('{"a":[1,2]}', '{"a":[2,1]}')).toBe(422)
  })

  test('A "__proto__" key vanished, and keys that differ in case were mixed up: both count', async () => {
    expect(await json('{"__proto__":{"amount":1}}', '{"__proto__":{"amount":999}}')).toBe(422)
    expect(await json('{"a":1,"A":2}', '{"A":2,"a":1}')).toBe(201)
    expect(await json('{"a":1,"A":2}', '{"a":2,"A":1}')).toBe(422)
  })

  test('Integers beyond 2^53 were rounded into each other: they count by all their digits', async () => {
    expect(await json('{"id":9007199254740993}', '{"id":9007199254740992}')).toBe(422)
    expect(await json('{"id":9007199254740993}', '{"id":9007199254740993}')).toBe(201)
  })

  test('1, 1.0 and 1e0 are one number, written in three ways', async () => {
    for (const text of ['1.0', '1e0', '10e-1']) expect(await json('{"n":1}', `{"n":${text}}`)).toBe(201)
    expect(await json('{"n":0}', '{"n":-0}')).toBe(201)
    expect(await json('{"n":1}', '{"n":1.0000001}')).toBe(422)
  })

  test('An object that names a member twice was read as if it named it once: such bodies count by their bytes', async () => {
    expect(await json('{"a":1,"a":2}', '{"a":2}')).toBe(422)
    expect(await json('{"a":1,"a":2}', '{"a":2,"a":1}')).toBe(422)
    expect(await json('{"a":1,"a":2}', '{"a":1,"a":2}')).toBe(201)
  })

  test('A form has another boundary at each try: its parts count, not the boundary', async () => {
    const form = (boundary: string, value: string): Asked => ({
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${value}\r\n--${boundary}--\r\n`,
    })
    expect(await second(form('aaa', '1'), form('bbb', '1'))).toBe(201)
    expect(await second(form('aaa', '1'), form('bbb', '2'))).toBe(422)
  })

  test('The body alone was compared, and another path or query got the answer: they count as well', async () => {
    expect(await second({ path: '/a' }, { path: '/b' })).toBe(422)
    expect(await second({ query: {} }, { query: { dryRun: ['true'] } })).toBe(422)
    expect(await second({ query: { a: ['1'], b: ['2'] } }, { query: { b: ['2'], a: ['1'] } })).toBe(201)
    expect(await second({}, { headers: { 'content-type': 'text/plain' } })).toBe(422)
  })

  test('Fields were left out of the comparison, and a changed request got the old answer: all of it counts', async () => {
    expect(await json('{"a":{"b":{"c":[{"d":1}]}}}', '{"a":{"b":{"c":[{"d":2}]}}}')).toBe(422)
    const { idempotency } = core()
    await idempotency.run({ key: 'k', input: { a: { b: 1 } } }, () => 1)
    expect(await codeOf(idempotency.run({ key: 'k', input: { a: { b: 2 } } }, () => 1))).toBe('MISMATCH')
  })

  test('The whole event was compared, in which each try has another id and time: only what the client asked for counts', async () => {
    const { serve } = setUp()
    const handler = serve(() => ({ statusCode: 201, body: '' }))
    const first = httpEvent({ headers: { 'x-request-id': '1' } })
    const again = httpEvent({ headers: { 'x-request-id': '2' } })
    expect(first.requestContext.requestId).not.toBe(again.requestContext.requestId)
    await handler(first)
    expect((await handler(again)).statusCode).toBe(201)
  })

  test('A finished operation was replayed before the request was compared: another request is told first, whatever the status', async () => {
    const { idempotency } = core()
    await idempotency.run({ key: 'k', input: 1 }, () => 'secret')
    expect(await codeOf(idempotency.run({ key: 'k', input: 2 }, () => 1))).toBe('MISMATCH')
    await idempotency.run({ key: 'f', input: 1 }, () => Promise.reject(new Error('x'))).catch(() => undefined)
    expect(await codeOf(idempotency.run({ key: 'f', input: 2 }, () => 1))).toBe('MISMATCH')
  })

  test('An emoji cut in two, or a value nested without end, crashed the comparison: it counts, or is refused by name', async () => {
    const { idempotency } = core()
    await idempotency.run({ key: 'k', input: { note: '\ud83d' } }, () => 1)
    expect(await codeOf(idempotency.run({ key: 'k', input: { note: '\ude00' } }, () => 1))).toBe('MISMATCH')
    expect(await codeOf(idempotency.run({ key: 'k', input: { note: '\ud83d' } }, () => 1))).toBe('no error')
    expect(await codeOf(idempotency.run({ key: 'n', input: { '\ud83d': 1 } }, () => 1))).toBe('no error')
    expect(await codeOf(idempotency.run({ key: 'n', input: { '\ude00': 1 } }, () => 1))).toBe('MISMATCH')
    const deep: unknown = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000))
    expect(await codeOf(idempotency.run({ key: 'd', input: deep }, () => 1))).toBe('INVALID_INPUT')
  })
})
