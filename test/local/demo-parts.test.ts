import { describe, expect, test } from 'vitest'
import { happeningIn } from '../../infra/local/console/happenings.ts'
import { meaningOf } from '../../infra/local/console/orders.ts'
import type { DemoAnswer } from '../../lib/cli/console/demo.ts'

describe('a line of a function', () => {
  const event = { event: 'claimed', namespace: 'orders', operationId: 'orders#1', atMs: 5, attempt: 2 }

  test('that is an event tells what happened, and who told it', () => {
    expect(happeningIn(JSON.stringify(event), 'orders-api')).toEqual({
      operationId: 'orders#1',
      happening: { kind: 'claimed', atMs: 5, attempt: 2, by: 'orders-api' },
    })
    expect(happeningIn(JSON.stringify({ ...event, event: 'rejected', why: 'poison' }), 'w')?.happening.detail).toBe(
      'poison',
    )
  })

  test.each<[string, string]>([
    ['is no event', 'Error: timed out'],
    ['only looks like one', '{"event":'],
    ['is an event of something else', JSON.stringify({ ...event, event: 'reconciled' })],
    ['names no operation', JSON.stringify({ ...event, operationId: undefined })],
    ['has no time', JSON.stringify({ ...event, atMs: 'now' })],
  ])('that %s tells nothing', (_, line) => {
    expect(happeningIn(line, 'w')).toBeUndefined()
  })
})

describe('the answers to an order', () => {
  const answer = (status: number, isReplay = false): DemoAnswer => ({ status, isReplay, tookMs: 1, text: '' })

  test.each<[string, DemoAnswer[], RegExp]>([
    ['one that was placed', [answer(201)], /^Placed once\.$/],
    ['copies that came too early', [answer(201), answer(409), answer(409)], /^Placed once\. 2 stopped, since/],
    ['a copy that came later', [answer(201, true)], /^1 answered from what the first run stored/],
    ['another body', [answer(422)], /^Refused: the key belongs to another order/],
    ['no answer', [answer(0), answer(503)], /^2 got no final answer: repeating it/],
  ])('say of %s what it means', (_, answers, expected) => {
    expect(meaningOf(answers)).toMatch(expected)
  })
})
