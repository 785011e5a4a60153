import { describe, expect, test } from 'vitest'
import { withActions, writtenPaths } from '../../lib/order/update-expression.ts'

describe('an action joins the SET clause of an update', () => {
  test.each([
    ['', 'SET #v = :v'],
    ['SET a = :a', 'SET #v = :v, a = :a'],
    ['set a = :a', 'set #v = :v, a = :a'],
    ['REMOVE a', 'REMOVE a SET #v = :v'],
    ['ADD n :n SET a = :a REMOVE b', 'ADD n :n SET #v = :v, a = :a REMOVE b'],
    ['SET\n  a = :a', 'SET #v = :v,\n  a = :a'],
    ['REMOVE #set, a.#set', 'REMOVE #set, a.#set SET #v = :v'],
    ['ADD #offset :set', 'ADD #offset :set SET #v = :v'],
    ['SET #set = :set', 'SET #v = :v, #set = :set'],
  ])('%j → %j', (expression, extended) => {
    expect(withActions(expression, 'SET', ['#v = :v'])).toBe(extended)
  })

  test('and removals join REMOVE', () => {
    expect(withActions('REMOVE a SET b = :b', 'REMOVE', ['#t', '#u'])).toBe('REMOVE #t, #u, a SET b = :b')
    expect(withActions('SET b = :b', 'REMOVE', ['#t'])).toBe('SET b = :b REMOVE #t')
    expect(withActions('SET b = :b', 'REMOVE', [])).toBe('SET b = :b')
  })
})

describe('what an update writes', () => {
  test.each([
    ['', []],
    ['SET a = :a, #b = a + :c', ['a', '#b']],
    ['SET a = if_not_exists(version, :x) REMOVE c', ['a', 'c']],
    ['SET a = list_append(if_not_exists(b, :x), c), d = :d', ['a', 'd']],
    ['SET a.#version = :a, b[3] = :b', ['a', 'b']],
    ['ADD n :n, m :m DELETE s :s', ['n', 'm', 's']],
    ['remove a, b set c = version', ['a', 'b', 'c']],
  ])('%j → %j', (expression, paths) => {
    expect(writtenPaths(expression)).toEqual(paths)
  })
})
