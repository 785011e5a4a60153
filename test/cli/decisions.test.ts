import { describe, expect, test } from 'vitest'
import { type Act, refusalOf } from '../../lib/cli/acts/permitted.ts'
import { explain } from '../../lib/cli/explain.ts'
import { standingOf } from '../../lib/cli/operation/standing.ts'
import { span } from '../../lib/cli/terminal/text.ts'
import type { OperationRecord } from '../../lib/index.ts'

const NOW = 1_800_000_000_000
const base: OperationRecord = {
  id: `orders#${'a'.repeat(43)}`,
  status: 'IN_PROGRESS',
  attempt: 1,
  token: 't',
  rev: 1,
  leaseUntil: NOW + 60_000,
  takeover: 'auto',
  createdAtMs: NOW - 60_000,
  updatedAtMs: NOW - 30_000,
  fingerprint: 'none',
  steps: {},
  schema: 1,
}
const { leaseUntil: _lease, ...ended } = base
const redrive = { target: { queueUrl: 'q' }, payload: { kind: 'text', text: '[1]' } } as const
const records = {
  running: base,
  'running without an end': ended,
  taken: { ...base, isAdmission: true },
  stale: { ...base, leaseUntil: NOW - 5_000, redrive },
  stopped: { ...base, leaseUntil: NOW - 5_000, takeover: 'never', redrive },
  retryable: { ...ended, status: 'RETRYABLE', redrive },
  'waiting for a time': { ...ended, status: 'WAITING', resumeAtMs: NOW + 1, redrive },
  'waiting for a signal': { ...ended, status: 'WAITING', redrive },
  due: { ...ended, status: 'WAITING', resumeAtMs: NOW, redrive },
  unknown: { ...ended, status: 'UNKNOWN', redrive },
  completed: { ...ended, status: 'COMPLETED', redrive },
  failed: { ...ended, status: 'FAILED', redrive },
  released: { ...ended, status: 'RELEASED' },
  expired: { ...ended, status: 'COMPLETED', expiresAt: NOW / 1000 },
  'an admission whose time is over': { ...base, isAdmission: true, leaseUntil: NOW - 5_000, expiresAt: NOW / 1000 - 4 },
} satisfies Record<string, OperationRecord>

describe('what an operator may do', () => {
  const none: readonly Act[] = []
  test.each<[keyof typeof records, string, readonly Act[]]>([
    ['running', 'running', none],
    ['running without an end', 'running', none],
    ['taken', 'taken', none],
    ['stale', 'stale', ['settle', 'resume', 'release', 'redrive']],
    ['stopped', 'stopped', ['settle', 'resume', 'release']],
    ['retryable', 'retryable', ['settle', 'resume', 'release', 'redrive']],
    ['waiting for a time', 'waiting', ['settle', 'resume', 'release']],
    ['waiting for a signal', 'waiting', ['settle', 'resume', 'release']],
    ['due', 'waiting', ['settle', 'resume', 'release', 'redrive']],
    ['unknown', 'unknown', ['settle', 'resume', 'release']],
    ['completed', 'completed', none],
    ['failed', 'failed', ['release']],
    ['released', 'released', none],
    ['expired', 'expired', none],
    ['an admission whose time is over', 'expired', none],
  ])('%s', (name, kind, permitted) => {
    const record = records[name]
    const standing = standingOf(record, NOW)
    expect(standing.kind).toBe(kind)
    const acts: readonly Act[] = ['settle', 'resume', 'release', 'redrive']
    expect(acts.filter((act) => refusalOf(act, record, standing) === undefined)).toEqual(permitted)
  })

  test('a lease that is over by less than clocks may differ is left alone', () => {
    expect(standingOf({ ...base, leaseUntil: NOW - 1_000 }, NOW).kind).toBe('running')
    expect(standingOf({ ...base, leaseUntil: NOW - 1_001 }, NOW).kind).toBe('stale')
  })

  test('nothing is redriven of which no request is stored', () => {
    const { redrive: _none, ...record } = records.retryable
    expect(refusalOf('redrive', record, standingOf(record, NOW))).toContain('No request is stored')
  })
})

test('an error that nobody thought of is a sentence, too', () => {
  const failure = explain(new TypeError('x is not a function'), { tableName: 't', endpoint: undefined })
  expect([failure.exitCode, failure.message]).toEqual([
    1,
    'This should not have happened: TypeError: x is not a function',
  ])
  expect(explain(undefined, { tableName: 't', endpoint: undefined }).exitCode).toBe(1)
})

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h'],
])('%i ms are %s', (lengthMs, text) => {
  expect(span(lengthMs)).toBe(text)
})
