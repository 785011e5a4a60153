import { describe, expect, test } from 'vitest'
import { fingerprintValue } from '../../lib/record/fingerprint.ts'

describe('equal inputs have equal fingerprints', () => {
  test.each<[string, unknown, unknown]>([
    ['keys in another order', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ['an undefined field and none', { a: 1, b: undefined }, { a: 1 }],
    ['minus zero and zero', { n: -0 }, { n: 0 }],
    [
      'maps in another order',
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
      new Map([
        ['b', 2],
        ['a', 1],
      ]),
    ],
    ['sets in another order', new Set([1, 2]), new Set([2, 1])],
    ['objects without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [
      'one object used twice',
      [{ a: 1 }, { a: 1 }],
      (() => {
        const o = { a: 1 }
        return [o, o]
      })(),
    ],
  ])('%s', (_name, a, b) => {
    expect(fingerprintValue(a)).toBe(fingerprintValue(b))
  })
})

describe('different inputs have different fingerprints', () => {
  test.each<[string, unknown, unknown]>([
    ['array order', [1, 2], [2, 1]],
    ['a number and its text', { n: 1 }, { n: '1' }],
    ['a bigint and its tagged text', 1n, 'n1'],
    ['undefined and its tag', undefined, 'u'],
    ['null and undefined', [null], [undefined]],
    ['a date and its number', new Date(5), 5],
    ['two dates', new Date(5), new Date(6)],
    ['NaN and null', Number.NaN, null],
    ['an own __proto__ key', JSON.parse('{"__proto__":{"amount":1}}'), JSON.parse('{"__proto__":{"amount":999}}')],
    ['a map and the array of its tag', new Map(), ['map']],
    ['a set and a map', new Set(), new Map()],
    ['bytes', new Uint8Array([1]), new Uint8Array([2])],
    ['key case', { a: 1, A: 2 }, { a: 2, A: 1 }],
  ])('%s', (_name, a, b) => {
    expect(fingerprintValue(a)).not.toBe(fingerprintValue(b))
  })
})

describe('an input without a canonical form is refused by its path', () => {
  const loop: Record<string, unknown> = {}
  loop.self = loop
  test.each<[string, unknown, RegExp]>([
    ['a function', { a: [() => 1] }, /\$\.a\[0\] is a function/],
    ['a symbol', { a: Symbol('x') }, /\$\.a is a symbol/],
    ['a class instance', { when: new URL('http://x') }, /\$\.when is an instance of URL/],
    ['a cycle', loop, /\$\.self refers to itself/],
  ])('%s', (_name, input, message) => {
    expect(() => fingerprintValue(input)).toThrow(message)
  })
})

test('a set and a list that looks like one have two fingerprints', () => {
  expect(fingerprintValue(new Set(['a']))).not.toBe(fingerprintValue(['et', 'a']))
})
