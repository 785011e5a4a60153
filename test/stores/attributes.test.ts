import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { expect, test } from 'vitest'
import { MARSHALLING } from '../../lib/commit/marshalled.ts'
import { attributesOf, valuesOf } from '../../lib/dynamodb/attributes.ts'
import { aRecord, aStep } from '../../lib/store-contract/fixtures.ts'

test.each<[string, object]>([
  [
    'a record',
    aRecord({ metadata: { a: 'b' }, steps: { 'a step': aStep, other: { kind: 'started', startedAtMs: 1 } } }),
  ],
  ['an outcome with bytes', { outcome: { kind: 'value', value: { kind: 'brotli', bytes: Uint8Array.of(0, 255) } } }],
  ['what is undefined, at every depth', { a: undefined, b: { c: undefined, d: {} }, e: [{ f: undefined }] }],
  ['flags, lists and nothing', { yes: true, no: false, list: ['a', 1, [null]], nothing: null, empty: '' }],
  ['numbers', { whole: 1, negative: -1, zero: 0, part: 1.5, small: 1e-7, big: 12345678901234567890n }],
])('%s becomes what the library makes of it, and is read as by the library', (_what, values) => {
  const attributes = marshall(values, MARSHALLING)
  expect(attributesOf(values)).toEqual(attributes)
  expect(valuesOf(attributes)).toEqual(unmarshall(attributes))
})

test.each<[string, unknown]>([
  ['a date', new Date(0)],
  ['a number that lost digits', 2 ** 60],
])('%s is refused at every depth, as by the library', (_what, value) => {
  expect(() => attributesOf({ a: { b: value } })).toThrow()
  expect(() => marshall({ a: { b: value } }, MARSHALLING)).toThrow()
})

test('a name that stands for something else in JavaScript is one as any other', () => {
  const values: object = JSON.parse('{"steps": {"__proto__": "a", "constructor": "b"}}')
  const attributes = attributesOf(values)
  expect(JSON.stringify(attributes)).toBe('{"steps":{"M":{"__proto__":{"S":"a"},"constructor":{"S":"b"}}}}')
  expect(JSON.stringify(valuesOf(attributes))).toBe(JSON.stringify(values))
})
