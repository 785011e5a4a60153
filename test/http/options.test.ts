import { describe, expect, test } from 'vitest'
import { HTTP_DEFAULTS, idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { createIdempotency, InvalidOptionError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'

const idempotency = createIdempotency({ store: memoryStore(), namespace: 'orders' })
const ok = () => ({ statusCode: 200, body: '' })

describe('wrong options are refused at construction, naming the option', () => {
  test.each<[unknown, RegExp]>([
    [undefined, /options object; got undefined/],
    [{}, /idempotency must be made by createIdempotency.*got undefined/],
    [{ idempotency: {} }, /idempotency must be made by createIdempotency.*got an object/],
    [{ idempotency, heder: 'x' }, /has no option "heder".*header/],
    [{ idempotency, header: 'Idempotency Key' }, /header .*got "Idempotency Key"/],
    [{ idempotency, header: '' }, /header .*got ""/],
    [{ idempotency, header: 5 }, /header .*got 5/],
    [{ idempotency, key: 'maybe' }, /key must be "required" or "optional"; got "maybe"/],
    [{ idempotency, methods: 'POST' }, /methods must be a list.*got "POST"/],
    [{ idempotency, methods: null }, /methods must be a list.*got null/],
    [{ idempotency, methods: [] }, /methods must name at least one/],
    [{ idempotency, methods: ['POST', null] }, /methods .*got null/],
    [{ idempotency, scope: 'tenant' }, /scope must be a function; got "tenant"/],
    [{ idempotency, anonymous: 'yes' }, /anonymous must be true or false; got "yes"/],
    [{ idempotency, anonymous: true, scope: () => 'a' }, /scope and anonymous exclude each other/],
    [{ idempotency, fingerprint: false }, /fingerprint must be a function; got false/],
    [{ idempotency, storeResponse: true }, /storeResponse must be a function; got true/],
    [{ idempotency, stripHeaders: 'date' }, /stripHeaders must be a list.*got "date"/],
    [{ idempotency, stripHeaders: ['set-cookie:'] }, /stripHeaders .*got "set-cookie:"/],
    [{ idempotency, onStripped: 'drop' }, /onStripped must be "mark" or "refuse"; got "drop"/],
    [{ idempotency, onRefused: 'cors' }, /onRefused must be a function; got "cors"/],
    [{ idempotency, replay: 'fresh' }, /replay must be "frozen" or a function; got "fresh"/],
  ])('%j', (options, message) => {
    for (const construct of [() => idempotentHttp(options as never), () => idempotent(options as never, ok)]) {
      expect(construct).toThrow(InvalidOptionError)
      expect(construct).toThrow(message)
    }
  })

  test.each([undefined, null, {}, 'handler'])('a handler that is %j', (fn) => {
    expect(() => idempotent({ idempotency }, fn as never)).toThrow(/fn must be a function/)
  })
})

test('options that are undefined count as not given', () => {
  const options = Object.fromEntries(Object.keys(HTTP_DEFAULTS).map((name) => [name, undefined]))
  expect(() =>
    idempotentHttp({ idempotency, ...options, scope: undefined, anonymous: undefined } as never),
  ).not.toThrow()
})

test('no headers to strip is a choice', () => {
  expect(() => idempotentHttp({ idempotency, stripHeaders: [] })).not.toThrow()
})

test('the middleware is frozen and carries no state between factories', () => {
  const one = idempotentHttp({ idempotency })
  expect(Object.isFrozen(one)).toBe(true)
  expect(one).not.toBe(idempotentHttp({ idempotency }))
})
