import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeValue, encodeValue } from '../../lib/outcome/codec.ts'
import { smallJson } from '../../lib/outcome/small-json.ts'

describe('is JSON', () => {
  test('whatever JSON holds without loss', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        // Negative zero is read and not written by JSON, and that one name is refused wherever it stands.
        const value: unknown = JSON.parse(json.replaceAll(/-0(?![.\d])/g, '0').replaceAll('__proto__', 'proto'))
        expect(JSON.parse(smallJson(value, 100_000) ?? '"nothing"')).toStrictEqual(value)
      }),
    )
  })

  test('and nothing that would come back changed', () => {
    const anything = fc.anything({
      withDate: true,
      withMap: true,
      withSparseArray: true,
      withNullPrototype: true,
      withBigInt: true,
    })
    fc.assert(
      fc.property(anything, (value) => {
        const text = smallJson(value, 100_000)
        if (text !== undefined) expect(JSON.parse(text)).toStrictEqual(value)
      }),
    )
  })
})

const holey: unknown[] = [1]
holey[2] = 2
const same = { a: 1 }
const cycle: Record<string, unknown> = {}
cycle.self = cycle
const throwing = Object.defineProperty({}, 'cents', {
  enumerable: true,
  get() {
    throw new Error('no cents')
  },
})

describe('is not JSON', () => {
  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['undefined in an object', { a: undefined }],
    ['negative zero', -0],
    ['NaN', [Number.NaN]],
    ['a bigint', 1n],
    ['a date', new Date(0)],
    ['a Buffer', Buffer.from('a')],
    ['a list with a hole', holey],
    ['a list with more than items', Object.assign([1], { more: 1 })],
    ['a list with a hole and more', Object.assign(holey.slice(), { more: 1 })],
    ['a symbol key', { [Symbol('a')]: 1 }],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 })],
    ['an object of another realm', runInNewContext('({ a: 1 })')],
    ['the same object twice', [same, same]],
    ['a cycle', cycle],
    ['a key __proto__', JSON.parse('{"__proto__":{"a":1}}')],
    ['one with toJSON', { toJSON: () => 'other' }],
    ['a getter that throws', throwing],
  ])('%s', (_name, value) => {
    expect(smallJson(value, 1_024)).toBeUndefined()
  })
})

test('what is larger than asked for is not looked at to its end', () => {
  let reads = 0
  const deeper = (): object =>
    Object.defineProperty({}, 'next', {
      enumerable: true,
      get() {
        reads++
        return deeper()
      },
    })
  expect(smallJson(deeper(), 100)).toBeUndefined()
  expect(reads).toBeLessThan(100)
  let deep: unknown = 1
  for (let depth = 0; depth < 1_000_000; depth++) deep = [deep]
  expect(smallJson(deep, 1_024)).toBeUndefined()
})

test.each([
  ['é'.repeat(511), 'json'],
  ['é'.repeat(512), 'brotli'],
  ['\u0000'.repeat(170), 'json'],
  ['\u0000'.repeat(171), 'brotli'],
])('the limit counts bytes as they are written (%#)', async (value, kind) => {
  const encoded = await encodeValue(value)
  expect(encoded.kind).toBe(kind)
  expect(await decodeValue(encoded)).toBe(value)
})

test('what throws when it is looked at cannot be stored', async () => {
  await expect(encodeValue({ list: [throwing] })).rejects.toMatchObject({
    code: 'OUTCOME_UNSTORABLE',
    message: expect.stringContaining('no cents'),
  })
})
