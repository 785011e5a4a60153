import { describe, expect, test } from 'vitest'
import type { OperationRecord, Status } from '../../lib/index.ts'
import { type Task, taskFor } from '../../lib/reconciler/decide.ts'

const NOW_MS = 1_700_000_000_000
const MOMENT = { nowMs: NOW_MS, clockSkewMs: 1_000 }
const REDRIVE = { target: { functionName: 'orders' }, payload: { kind: 'text', text: '[1]' } } as const

function recordOf(status: Status, more: Partial<OperationRecord> = {}): OperationRecord {
  return {
    id: 'payments#1',
    status,
    attempt: 1,
    token: 't',
    rev: 1,
    takeover: 'auto',
    createdAtMs: 0,
    updatedAtMs: 0,
    fingerprint: 'none',
    steps: {},
    schema: 1,
    dueShard: 'payments#0',
    dueAtMs: NOW_MS,
    redrive: REDRIVE,
    ...more,
  }
}

const over = { leaseUntil: NOW_MS - 1_001 }
const withoutRequest = (record: OperationRecord): OperationRecord => {
  const { redrive: _, ...rest } = record
  return rest
}

describe('what a reconciler does with a record that is', () => {
  test.each<[string, OperationRecord, recover: Task, redrive: Task, redriveWithoutRequest: Task]>([
    ['in progress, its lease over', recordOf('IN_PROGRESS', over), 'recover', 'redrive', 'beyond'],
    [
      'in progress, its lease over within the skew',
      recordOf('IN_PROGRESS', { leaseUntil: NOW_MS - 1_000 }),
      'later',
      'later',
      'later',
    ],
    ['in progress, its lease running', recordOf('IN_PROGRESS', { leaseUntil: NOW_MS + 1 }), 'later', 'later', 'later'],
    ['in progress without a lease', recordOf('IN_PROGRESS'), 'later', 'later', 'later'],
    [
      'in progress, for an operator only',
      recordOf('IN_PROGRESS', { ...over, takeover: 'never' }),
      'none',
      'none',
      'none',
    ],
    ['to be resumed', recordOf('RETRYABLE'), 'recover', 'redrive', 'beyond'],
    ['waiting, and due', recordOf('WAITING', { resumeAtMs: NOW_MS }), 'recover', 'redrive', 'beyond'],
    ['waiting, and not due', recordOf('WAITING', { resumeAtMs: NOW_MS + 1 }), 'none', 'none', 'none'],
    ['waiting for a signal', recordOf('WAITING'), 'none', 'none', 'none'],
    ['unknown, with a probe', recordOf('UNKNOWN', { canProbe: true }), 'recover', 'beyond', 'beyond'],
    ['unknown, without one', recordOf('UNKNOWN'), 'beyond', 'beyond', 'beyond'],
    ['completed', recordOf('COMPLETED'), 'none', 'none', 'none'],
    ['failed', recordOf('FAILED'), 'none', 'none', 'none'],
    ['released', recordOf('RELEASED'), 'none', 'none', 'none'],
    ['not due yet', recordOf('RETRYABLE', { dueAtMs: NOW_MS + 1 }), 'none', 'none', 'none'],
  ])('%s', (_name, record, recover, redrive, redriveWithoutRequest) => {
    expect(taskFor(record, { canRecover: true, canRedrive: false }, MOMENT)).toBe(recover)
    expect(taskFor(record, { canRecover: true, canRedrive: true }, MOMENT)).toBe(recover)
    expect(taskFor(record, { canRecover: false, canRedrive: true }, MOMENT)).toBe(redrive)
    expect(taskFor(withoutRequest(record), { canRecover: false, canRedrive: true }, MOMENT)).toBe(redriveWithoutRequest)
  })

  test('out of the index', () => {
    const { dueShard: _, dueAtMs: __, ...record } = recordOf('RETRYABLE')
    expect(taskFor(record, { canRecover: true, canRedrive: true }, MOMENT)).toBe('none')
  })
})
