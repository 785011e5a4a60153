import { describe, expect, test } from 'vitest'
import { decidePrevious, FIRST_NAMES, OPERATION_MARK, type Previous } from '../../lib/powertools/item.ts'

const NOW_MS = 1_000_000_000_000
const NOW = NOW_MS / 1000
const asked = { operation: 'orders#1', nowMs: NOW_MS }
const until = (ms: number) => ({ in_progress_expiration: NOW_MS + ms })

describe('a record that stands against the operation', () => {
  test.each<[string, Record<string, unknown> | undefined, Previous]>([
    ['that is gone', undefined, { kind: 'free' }],
    ['that was completed', { status: 'COMPLETED', expiration: NOW + 1, data: 'r' }, { kind: 'answered', value: 'r' }],
    [
      'that was completed without a result',
      { status: 'COMPLETED', expiration: NOW },
      { kind: 'answered', value: undefined },
    ],
    ['that has expired', { status: 'COMPLETED', expiration: NOW - 1, data: 'r' }, { kind: 'free' }],
    ['that never expires', { status: 'COMPLETED', data: null }, { kind: 'answered', value: null }],
    [
      'that is in progress',
      { status: 'INPROGRESS', expiration: NOW + 60, ...until(5_000) },
      { kind: 'in-progress', untilMs: NOW_MS + 5_000 },
    ],
    [
      'whose time is over within what clocks may differ by',
      { status: 'INPROGRESS', expiration: NOW + 60, ...until(-1_000) },
      { kind: 'in-progress', untilMs: NOW_MS - 1_000 },
    ],
    ['whose time is over', { status: 'INPROGRESS', expiration: NOW + 60, ...until(-1_001) }, { kind: 'free' }],
    ['that is in progress without a time', { status: 'INPROGRESS', expiration: NOW + 60 }, { kind: 'in-progress' }],
    ['in progress and expired', { status: 'INPROGRESS', expiration: NOW - 1 }, { kind: 'free' }],
    [
      'of this very operation',
      { status: 'INPROGRESS', expiration: NOW + 60, [OPERATION_MARK]: 'orders#1' },
      { kind: 'free' },
    ],
    [
      'of this very operation, completed by an attempt of which it is not known',
      { status: 'COMPLETED', expiration: NOW + 60, data: 'r', [OPERATION_MARK]: 'orders#1' },
      { kind: 'free' },
    ],
    [
      'of another operation of this version',
      { status: 'COMPLETED', expiration: NOW + 60, data: 'r', [OPERATION_MARK]: 'orders#2' },
      { kind: 'occupied' },
    ],
    ['without a status', { expiration: NOW + 60 }, { kind: 'unreadable', why: 'its "status" is absent' }],
    ['with another status', { status: 'DONE' }, { kind: 'unreadable', why: 'its "status" is "DONE"' }],
  ])('%s', (_name, item, expected) => {
    expect(decidePrevious(item, FIRST_NAMES, asked)).toEqual(expected)
  })

  test.each<[string, string | undefined, string | undefined, Previous['kind']]>([
    ['the same', 'h1', 'h1', 'answered'],
    ['another', 'h1', 'h2', 'mismatch'],
    ['none, where one is asked for', undefined, 'h1', 'mismatch'],
    ['one that is not asked for', 'h1', undefined, 'answered'],
  ])('with %s validation', (_name, stored, validation, kind) => {
    const item = { status: 'COMPLETED', expiration: NOW + 60, ...(stored !== undefined && { validation: stored }) }
    const found = decidePrevious(item, FIRST_NAMES, { ...asked, ...(validation !== undefined && { validation }) })
    expect(found.kind).toBe(kind)
  })
})
