import type { CancellationReason } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { type Cancellation, type Participant, readCancellation } from '../../lib/commit/cancellation.ts'

const NONE: CancellationReason = { Code: 'None' }
const failed = (Item?: CancellationReason['Item']): CancellationReason => ({
  Code: 'ConditionalCheckFailed',
  ...(Item && { Item }),
})
const CONFLICT: CancellationReason = { Code: 'TransactionConflict' }
const INVALID: CancellationReason = { Code: 'ValidationError', Message: 'why' }

const write = (index: number): Participant => ({ index, guarding: undefined, over: undefined })
const guarded = (index: number, kind: 'Put' | 'Update', onStale: 'skip' | 'fail' = 'skip'): Participant => ({
  index,
  over: undefined,
  guarding: {
    onStale,
    guard: { attribute: 'v', value: 5, ttl: undefined },
    write:
      kind === 'Put'
        ? { Put: { TableName: 't', Item: { id: 'a' } } }
        : { Update: { TableName: 't', Key: { id: 'a' }, UpdateExpression: 'SET x = :x' } },
  },
})
const version = (v: number) => ({ id: { S: 'a' }, v: { N: String(v) } })
const tombstone = (v: number) => ({ ...version(v), tombstone: { BOOL: true } })
const again = (stale: number[], over: [number, unknown][] = []) => ({ kind: 'again', stale, over: new Map(over) })

describe('the reasons of a cancellation, the record first', () => {
  test.each<[string, CancellationReason[], Participant[], Cancellation | object]>([
    ['the record alone', [failed(version(1))], [], { kind: 'refused', item: version(1) }],
    ['the record beside a write', [failed(), failed()], [write(0)], { kind: 'refused', item: undefined }],
    ['the record beside a conflict', [failed(), CONFLICT], [write(0)], { kind: 'refused', item: undefined }],
    [
      'a conflict on the record beside a condition: nobody knows whose doing that was',
      [CONFLICT, failed()],
      [write(0)],
      { kind: 'passing', codes: ['TransactionConflict', 'ConditionalCheckFailed'] },
    ],
    [
      'a condition',
      [NONE, NONE, failed(version(3))],
      [write(0), write(1)],
      { kind: 'conflict', conflicts: [{ index: 1, item: { id: 'a', v: 3 }, isStale: false }] },
    ],
    [
      'a condition beside a conflict and something invalid',
      [NONE, failed(), CONFLICT, INVALID],
      [write(0), write(1), write(2)],
      { kind: 'conflict', conflicts: [{ index: 0, isStale: false }] },
    ],
    [
      'a condition by its place in the caller’s list, when earlier writes were left out',
      [NONE, failed()],
      [write(7)],
      { kind: 'conflict', conflicts: [{ index: 7, isStale: false }] },
    ],
    [
      'something invalid beside a conflict',
      [NONE, CONFLICT, INVALID],
      [write(0), write(4)],
      { kind: 'invalid', index: 4, message: 'why' },
    ],
    [
      'something invalid beside the record',
      [NONE, NONE, INVALID],
      [write(0)],
      { kind: 'invalid', index: undefined, message: 'why' },
    ],
    ['the record’s own update', [INVALID, NONE], [write(0)], { kind: 'invalid', index: undefined, message: 'why' }],
    ['a conflict', [NONE, CONFLICT], [write(0)], { kind: 'passing', codes: ['TransactionConflict'] }],
    [
      'a conflict beside the record',
      [NONE, NONE, CONFLICT],
      [write(0)],
      { kind: 'passing', codes: ['TransactionConflict'] },
    ],
    ['a code nobody has heard of', [NONE, { Code: 'New' }], [write(0)], { kind: 'failed', codes: ['New'] }],
    ['no reasons', [], [write(0)], { kind: 'passing', codes: [] }],
    ['a stale write', [NONE, failed(version(5))], [guarded(0, 'Put')], again([0])],
    [
      'stale writes beside a conflict',
      [NONE, failed(version(6)), CONFLICT, failed(version(5))],
      [guarded(0, 'Put'), write(1), guarded(2, 'Update')],
      again([0, 2]),
    ],
    [
      'a stale write that must not be left out, beside one that may',
      [NONE, failed(version(9)), failed(version(9))],
      [guarded(0, 'Put'), guarded(1, 'Put', 'fail')],
      { kind: 'conflict', conflicts: [{ index: 1, item: { id: 'a', v: 9 }, isStale: true }] },
    ],
    [
      'a guarded write that is newer, so that its own condition failed',
      [NONE, failed(version(4))],
      [guarded(0, 'Put')],
      { kind: 'conflict', conflicts: [{ index: 0, item: { id: 'a', v: 4 }, isStale: false }] },
    ],
    [
      'an update over an older tombstone',
      [NONE, failed(tombstone(3))],
      [guarded(0, 'Update')],
      again([], [[0, { version: 3, remains: [] }]]),
    ],
    ['an update over a newer tombstone', [NONE, failed(tombstone(8))], [guarded(0, 'Update')], again([0])],
    [
      'an update meant for a tombstone that is gone',
      [NONE, failed(version(4))],
      [{ ...guarded(0, 'Update'), over: { version: 3, remains: [] } }],
      again([], [[0, undefined]]),
    ],
    [
      'a version of another type',
      [NONE, failed({ id: { S: 'a' }, v: { S: '5' } })],
      [guarded(0, 'Put')],
      { kind: 'other-type', stored: 'a string', guarding: guarded(0, 'Put').guarding },
    ],
  ])('%s', (_name, reasons, participants, expected) => {
    expect(readCancellation(reasons, participants)).toEqual(expected)
  })
})
