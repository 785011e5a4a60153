import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../lib/base/json.ts'
import { readRequest } from '../../lib/http/request/event.ts'
import { contentOf } from '../../lib/http/request/fingerprint.ts'
import { contentForm } from '../../lib/record/content.ts'
import { fingerprintValue } from '../../lib/record/fingerprint.ts'
import { type Asked, httpEvent, restEvent } from './events.ts'

const ofEvent = (event: unknown) => contentForm(contentOf(readRequest(event)), fingerprintValue)
const of = (asked: Asked, make: (asked: Asked) => unknown = httpEvent) => ofEvent(make(asked))
const json = (body: string): Asked => ({ body })
const typed = (type: string, body: string, more: Asked = {}): Asked => ({
  ...more,
  headers: { 'content-type': type },
  body,
})
const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64')

function multipart(boundary: string, parts: readonly (readonly [head: string, body: string | Uint8Array])[]): Asked {
  const bytes = Buffer.concat([
    ...parts.flatMap(([head, body]) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(body),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ])
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: bytes.toString('base64'),
    base64: true,
  }
}

describe('two requests are the same', () => {
  test.each<[string, Asked, Asked]>([
    ['keys in another order', json('{"a":1,"b":[1,2]}'), json('{"b":[1,2],"a":1}')],
    ['keys in another order, deeper', json('{"x":{"a":1,"b":2}}'), json('{"x":{"b":2,"a":1}}')],
    ['other white space', json('{"a":1}'), json('{\n  "a": 1\n}')],
    ['the same number otherwise written', json('{"n":[1,100,0]}'), json('{"n":[1.0,1e2,-0.0]}')],
    ['the same large integer', json('{"n":9007199254740993}'), json('{"n":9007199254740993.0}')],
    ['the same string otherwise escaped', json('{"a":"é"}'), json('{"a":"\\u00e9"}')],
    ['a body in base64', json('{"a":1}'), { body: base64('{"a":1}'), base64: true }],
    ['a charset in the content type', json('{"a":1}'), typed('Application/JSON; charset=utf-8', '{"a":1}')],
    ['query parameters in another order', { query: { a: ['1'], b: ['2'] } }, { query: { b: ['2'], a: ['1'] } }],
    ['other headers', {}, { headers: { 'user-agent': 'other', 'x-request-id': '2', authorization: 'Bearer new' } }],
    ['the method in lower case', { method: 'post' }, { method: 'POST' }],
    ['no body and an empty one', { body: undefined }, { body: '' }],
    ['another boundary', multipart('aaa', [['name="a"', '1']]), multipart('bbb', [['name="a"', '1']])],
    [
      'another boundary around a file',
      multipart('aaa', [['name="f"; filename="x.bin"', Uint8Array.of(0, 255, 128)]]),
      multipart('bbb', [['name="f"; filename="x.bin"', Uint8Array.of(0, 255, 128)]]),
    ],
  ])('with %s', async (_, one, other) => {
    expect(await of(one)).toBe(await of(other))
    expect(await of(one, restEvent)).toBe(await of(other, restEvent))
  })

  test('a moment, a request id and a trace later', async () => {
    const one = httpEvent()
    const other = httpEvent()
    expect(one.requestContext.requestId).not.toBe(other.requestContext.requestId)
    expect(await ofEvent(one)).toBe(await ofEvent(other))
  })
})

describe('two requests are different', () => {
  test.each<[string, Asked, Asked]>([
    ['methods', { method: 'POST' }, { method: 'PATCH' }],
    ['paths', { path: '/a' }, { path: '/b' }],
    ['query values', { query: { dryRun: ['true'] } }, { query: { dryRun: ['false'] } }],
    ['a query and none', { query: { dryRun: ['true'] } }, {}],
    ['orders of one parameter', { query: { a: ['1', '2'] } }, { query: { a: ['2', '1'] } }],
    ['media types', typed('application/json', '{}'), typed('text/plain', '{}')],
    ['values', json('{"a":1}'), json('{"a":2}')],
    ['a number and its string', json('{"a":1}'), json('{"a":"1"}')],
    ['a large integer and the tag it gets', json('{"a":9007199254740993}'), json('{"a":"n9007199254740993e0"}')],
    ['a large integer and its neighbour', json('{"a":9007199254740993}'), json('{"a":9007199254740992}')],
    ['decimals that one double stands for', json('{"a":0.1}'), json('{"a":0.1000000000000000055}')],
    ['numbers too large for a double', json('{"a":1e400}'), json('{"a":1e401}')],
    ['numbers too small for a double', json('{"a":1e-400}'), json('{"a":0}')],
    ['exponents that are no safe integers', json('{"a":1e9999999999999999999}'), json('{"a":1e9999999999999999998}')],
    ['null and a missing member', json('{"a":null}'), json('{}')],
    ['own __proto__ members', json('{"__proto__":{"amount":1}}'), json('{"__proto__":{"amount":999}}')],
    ['names of another case', json('{"a":1,"A":2}'), json('{"a":2,"A":1}')],
    ['orders in an array', json('[1,2]'), json('[2,1]')],
    ['a repeated member and its last value', json('{"a":1,"a":2}'), json('{"a":2}')],
    ['orders of a repeated member', json('{"a":1,"a":2}'), json('{"a":2,"a":1}')],
    ['unicode forms', json('{"a":"\u00e9"}'), json('{"a":"e\u0301"}')],
    ['broken JSON', json('{"a":1'), json('{"a":2')],
    ['lone surrogates in escapes', json('{"a":"\\ud800"}'), json('{"a":"\\ud801"}')],
    ['lone surrogates in the text', json('\ud800'), json('\ud801')],
    [
      'broken base64 and the same without what is broken',
      { body: 'YWJj*', base64: true },
      { body: 'YWJj', base64: true },
    ],
    ['broken base64', { body: 'a*b', base64: true }, { body: 'a+b', base64: true }],
    ['base64 and the same text in clear', typed('text/plain', 'YWJj'), typed('text/plain', 'YWJj', { base64: true })],
    [
      'bytes that are no UTF-8',
      { body: base64(Uint8Array.of(0xff)), base64: true },
      { body: base64(Uint8Array.of(0xfe)), base64: true },
    ],
    [
      'forms',
      typed('application/x-www-form-urlencoded', 'a=1&b=2'),
      typed('application/x-www-form-urlencoded', 'b=2&a=1'),
    ],
    ['values of a part', multipart('aaa', [['name="a"', '1']]), multipart('aaa', [['name="a"', '2']])],
    ['names of a part', multipart('aaa', [['name="a"', '1']]), multipart('aaa', [['name="b"', '1']])],
    [
      'names of a file',
      multipart('aaa', [['name="f"; filename="a"', '1']]),
      multipart('aaa', [['name="f"; filename="b"', '1']]),
    ],
    [
      'bytes of a file',
      multipart('aaa', [['name="f"; filename="a"', Uint8Array.of(1)]]),
      multipart('aaa', [['name="f"; filename="a"', Uint8Array.of(2)]]),
    ],
    [
      'text parts that are no UTF-8',
      multipart('aaa', [['name="a"', Uint8Array.of(0xff)]]),
      multipart('aaa', [['name="a"', Uint8Array.of(0xfe)]]),
    ],
    [
      'orders of parts',
      multipart('aaa', [
        ['name="a"', '1'],
        ['name="b"', '2'],
      ]),
      multipart('aaa', [
        ['name="b"', '2'],
        ['name="a"', '1'],
      ]),
    ],
  ])('with other %s', async (_, one, other) => {
    expect(await of(one)).not.toBe(await of(other))
    expect(await of(one, restEvent)).not.toBe(await of(other, restEvent))
  })
})

describe('canonical JSON', () => {
  test.each([
    '1',
    '"a"',
    'null',
    'true',
    '[]',
    '{}',
    '{"":1}',
    '{"":{"":[]}}',
    '{"a:b":"c:d\\":"}',
    '{"a":{"b":{"c":1}}}',
  ])('has a form for %s', (text) => {
    expect(canonicalJson(text)).toBeDefined()
  })

  test.each(['{"a":1,"a":1}', '{"x":[{"a":1,"a":{"b":1}}]}', '{"a":1,"\\u0061":2}'])('has none for %s', (text) => {
    expect(canonicalJson(text)).toBeUndefined()
  })

  test.each(['', '{', 'undefined', '['.repeat(200_000)])('throws for %.20s', (text) => {
    expect(() => canonicalJson(text)).toThrow()
  })

  test('holds for a body as large as Lambda takes', () => {
    const items = Array.from({ length: 60_000 }, (_, id) => ({
      id,
      name: `item ${id}`,
      price: id / 7,
      tags: ['a', 'b'],
    }))
    const one = canonicalJson(JSON.stringify({ items, note: 'x' }))
    expect(one).toEqual(canonicalJson(JSON.stringify({ note: 'x', items })))
    expect(one).toBeDefined()
  })
})

test.each([
  ['a number', 5],
  ['an object that a parser made', { a: 1 }],
  ['nothing but false', false],
  ['zero', 0],
  ['an object that holds a bigint', { total: 1n }],
  ['an object that holds no plain data', { at: new URL('https://example.com') }],
])('a body that is %s is no error', async (_, body) => {
  const event = { ...httpEvent(), body }
  expect(await ofEvent(event)).toBe(await ofEvent(event))
  expect(await ofEvent(event)).not.toBe(await ofEvent({ ...event, body: 'other' }))
})

test.each([
  ['a path and a query', { rawPath: '/\ud800', rawQueryString: 'a=\ud800' }],
  ['JSON nested beyond every stack', { body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }],
])('%s that no canonical form can hold: no error, and still told apart', async (_, change) => {
  const event = { ...httpEvent(), ...change }
  expect(await ofEvent(event)).toBe(await ofEvent({ ...event }))
  expect(await ofEvent(event)).not.toBe(await ofEvent(httpEvent()))
})

test('what the maker of the request throws is not swallowed', async () => {
  const error = new Error('x')
  const refuse = () => {
    throw error
  }
  await expect(contentForm(contentOf(readRequest(httpEvent())), refuse)).rejects.toBe(error)
})
