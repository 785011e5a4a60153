import { describe, expect, test } from 'vitest'
import { detailWithIds } from '../../lib/outbox/event-detail.ts'

const IDS = { idempotencyKey: 'm1', operationId: 'o1' }

describe('the ids of an event', () => {
  test.each([
    ['{}', '{"metadata":{"idempotencyKey":"m1","operationId":"o1"}}'],
    ['{"metadata":{"trace":"t"},"n":1}', '{"metadata":{"idempotencyKey":"m1","operationId":"o1","trace":"t"},"n":1}'],
    ['{"metadata":{"idempotencyKey":"order-1"}}', '{"metadata":{"idempotencyKey":"order-1","operationId":"o1"}}'],
    [
      '{"id":12345678901234567890,"rate":1.10,"__proto__":{"a":-0}}',
      '{"id":12345678901234567890,"rate":1.10,"__proto__":{"a":-0},"metadata":{"idempotencyKey":"m1","operationId":"o1"}}',
    ],
  ])('go beside what is there, and change none of it: %s', (text, detail) => {
    expect(detailWithIds(text, IDS)).toBe(detail)
  })

  test.each([
    '',
    'x',
    '[]',
    '1',
    'null',
    '"text"',
    '{"metadata":null}',
    '{"metadata":[]}',
    '{"metadata":1}',
    '{"metadata":"m"}',
  ])('have no place in %s', (text) => expect(detailWithIds(text, IDS)).toBeUndefined())
})
