import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  fenceOf,
  hashOfParts,
  type KeyInput,
  normalizeKey,
  normalizeScope,
  operationId,
  writtenKey,
} from '../../lib/record/identity.ts'

describe('a key', () => {
  test.each([[undefined], [null], [''], ['  \t'], [[]], [['a', null]], [['a', '']], [[undefined]]])(
    '%j is missing',
    (input) => {
      expect(normalizeKey(input)).toBeUndefined()
    },
  )

  test.each([
    ['a string', 'abc', 'abc'],
    ['a number', 7, '7'],
    ['a bigint', 7n, '7'],
    ['an array', ['order-1', 2], '["order-1","2"]'],
  ])('%s has one written form', (_name, input, written) => {
    expect(writtenKey(normalizeKey(input) ?? '')).toBe(written)
  })

  test.each([
    ['an object', {}, /string, a number or an array/],
    ['a boolean', true, /got boolean/],
    ['NaN', Number.NaN, /got NaN/],
    ['a nested array', [['a']], /an array in an array/],
    ['a lone surrogate', 'a\ud800', /lone surrogate/],
    ['256 bytes', 'x'.repeat(256), /256 bytes long; at most 255/],
    ['128 emoji', '😀'.repeat(128), /512 bytes long/],
    ['an array of 256 bytes', ['x'.repeat(126), 'y'.repeat(123)], /256 bytes long/],
  ])('refuses %s', (_name, input, message) => {
    expect(() => normalizeKey(input)).toThrow(message)
  })

  test('may have 255 bytes', () => {
    expect(normalizeKey('😀'.repeat(63))).toHaveLength(126)
  })
})

describe('an operation id', () => {
  test('differs wherever the parts differ, however they would look joined', () => {
    const parts = fc.array(fc.string({ unit: fc.constantFrom('a', '|', ':', '1', '#', '') }), { maxLength: 4 })
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(hashOfParts(a) === hashOfParts(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
    )
    expect(operationId('n', ['a|b', 'c'], 'k')).not.toBe(operationId('n', ['a', 'b|c'], 'k'))
    expect(operationId('n', ['', 'x'], 'k')).not.toBe(operationId('n', ['x', ''], 'k'))
  })

  const idOf = (key: KeyInput, scope: string[] = []) => operationId('n', scope, normalizeKey(key) ?? '')

  test.each<[KeyInput, KeyInput]>([
    [['a'], '["a"]'],
    [['a'], 'a'],
    [['a', 'b'], '["a","b"]'],
    [['["a"]'], '["a"]'],
    [
      ['a', 'b'],
      ['["a"', '"b"]'],
    ],
    [['a,b'], ['a', 'b']],
  ])('of the key %j is not that of %j', (a, b) => {
    expect(idOf(a)).not.toBe(idOf(b))
  })

  test('of no list is that of any text or other list, whatever the scope', () => {
    const part = fc.string({ unit: fc.constantFrom('a', '"', ',', '[', ']'), minLength: 1, maxLength: 6 })
    const key = fc.oneof(part, fc.array(part, { minLength: 1, maxLength: 3 }))
    const asked = fc.record({ key, scope: fc.array(fc.oneof(part, fc.constant('')), { maxLength: 2 }) })
    fc.assert(
      fc.property(asked, asked, key, (a, b, other) => {
        expect(idOf(a.key, a.scope) === idOf(b.key, b.scope)).toBe(JSON.stringify(a) === JSON.stringify(b))
        expect(idOf(JSON.stringify(other), a.scope)).not.toBe(idOf([JSON.stringify(other)], a.scope))
        expect(idOf(JSON.stringify([other].flat()), a.scope)).not.toBe(idOf([other].flat(), a.scope))
      }),
    )
  })

  test.each<[KeyInput, KeyInput]>([
    [5, '5'],
    [5n, 5],
    [
      ['a', 5],
      ['a', '5'],
    ],
  ])('of the key %s is that of %s', (a, b) => {
    expect(idOf(a)).toBe(idOf(b))
  })

  test('stays short for any key', () => {
    expect(operationId('n'.repeat(64), ['s'.repeat(5_000)], 'k'.repeat(255)).length).toBe(64 + 1 + 43)
  })

  test('refuses scope parts that are not valid text', () => {
    expect(() => normalizeScope(['a\udfff'])).toThrow(/scope\[0\] must be a string of valid Unicode/)
    expect(() => normalizeScope([1] as never)).toThrow(/scope\[0\].*got number/)
  })
})

test('fences sort in the order of claims', () => {
  const claims = [
    { createdAtMs: 999, attempt: 12 },
    { createdAtMs: 1_700_000_000_000, attempt: 2 },
    { createdAtMs: 1_700_000_000_000, attempt: 10 },
    { createdAtMs: 1_700_000_000_001, attempt: 1 },
  ]
  const fences = claims.map(fenceOf)
  expect([...fences].sort()).toEqual(fences)
})
