import { describe, expect, test } from 'vitest'
import type { OperationRecord } from '../../lib/index.ts'
import { decideClaim, decideHeld } from '../../lib/record/decide.ts'

const NOW_MS = 1_700_000_000_000
const NOW_SECONDS = NOW_MS / 1000
const MOMENT = { nowMs: NOW_MS, clockSkewMs: 1_000 }
const ME = { token: 'mine', fingerprint: 'v1:a' }

const record = (fields: Partial<OperationRecord>): OperationRecord => ({
  id: 'ns#1',
  status: 'IN_PROGRESS',
  attempt: 1,
  token: 'other',
  rev: 1,
  takeover: 'auto',
  createdAtMs: NOW_MS - 5_000,
  updatedAtMs: NOW_MS - 5_000,
  fingerprint: 'v1:a',
  steps: {},
  schema: 1,
  ...fields,
})

const LIVE = { leaseUntil: NOW_MS + 3_000 }
const OVER = { leaseUntil: NOW_MS - 1_001 }

describe('a claim that met a record', () => {
  test.each<[string, Partial<OperationRecord>, ReturnType<typeof decideClaim>]>([
    ['replaces a released one', { status: 'RELEASED' }, { kind: 'replace' }],
    ['replaces an expired completed one', { status: 'COMPLETED', expiresAt: NOW_SECONDS }, { kind: 'replace' }],
    ['replaces an expired failed one', { status: 'FAILED', expiresAt: NOW_SECONDS - 1 }, { kind: 'replace' }],
    ['replaces an expired unfinished one', { ...OVER, expiresAt: NOW_SECONDS }, { kind: 'replace' }],
    ['never replaces an unknown one', { status: 'UNKNOWN', expiresAt: 1 }, { kind: 'unknown' }],
    [
      'takes over an expired one with steps',
      { ...OVER, expiresAt: 1, steps: { a: { kind: 'started', startedAtMs: 1 } } },
      { kind: 'takeover' },
    ],
    ['knows its own write by the token', { token: 'mine', ...LIVE }, { kind: 'claimed' }],
    [
      'knows its own write before it compares fingerprints',
      { token: 'mine', ...LIVE, fingerprint: 'v1:b' },
      { kind: 'claimed' },
    ],
    [
      'does not take its own lease for a claim that is over by its own clock: by another one it was over before',
      { token: 'mine', status: 'IN_PROGRESS', leaseUntil: NOW_MS },
      { kind: 'in-progress', leaseUntil: NOW_MS },
    ],
    ['does not take its own ended lease for a claim', { token: 'mine', ...OVER }, { kind: 'takeover' }],
    ['replays its own completed operation', { token: 'mine', status: 'COMPLETED' }, { kind: 'replay' }],
    ['tells a mismatch before in-progress', { ...LIVE, fingerprint: 'v1:b' }, { kind: 'mismatch' }],
    ['tells a mismatch before a replay', { status: 'COMPLETED', fingerprint: 'v1:b' }, { kind: 'mismatch' }],
    ['tells a mismatch before a takeover', { ...OVER, fingerprint: 'v1:b' }, { kind: 'mismatch' }],
    ['counts another fingerprint version as a mismatch', { ...LIVE, fingerprint: 'v0:a' }, { kind: 'mismatch' }],
    [
      'compares nothing where the record has no fingerprint',
      { status: 'COMPLETED', fingerprint: 'none' },
      { kind: 'replay' },
    ],
    ['replays a failure', { status: 'FAILED', expiresAt: NOW_SECONDS + 1 }, { kind: 'replay' }],
    [
      'waits with one that is not due',
      { status: 'WAITING', resumeAtMs: NOW_MS + 1 },
      { kind: 'waiting', resumeAtMs: NOW_MS + 1 },
    ],
    ['waits with one that waits for a signal', { status: 'WAITING' }, { kind: 'waiting' }],
    ['takes over one that is due', { status: 'WAITING', resumeAtMs: NOW_MS }, { kind: 'takeover' }],
    ['leaves a running lease alone', LIVE, { kind: 'in-progress', ...LIVE }],
    [
      'leaves a lease alone inside the skew margin',
      { leaseUntil: NOW_MS - 1_000 },
      { kind: 'in-progress', leaseUntil: NOW_MS - 1_000 },
    ],
    ['takes over past the skew margin', OVER, { kind: 'takeover' }],
    ['counts a record without a lease as live', {}, { kind: 'in-progress' }],
    ['obeys the takeover policy of the record', { ...OVER, takeover: 'never' }, { kind: 'in-progress' }],
    ['takes over a retryable one at once', { status: 'RETRYABLE' }, { kind: 'takeover' }],
  ])('%s', (_name, fields, decision) => {
    expect(decideClaim(record(fields), ME, MOMENT)).toEqual(decision)
  })
})

describe('a later write that failed its condition', () => {
  const mine = (status: OperationRecord['status']) => record({ token: 'mine', status })
  test.each([
    ['completion', 'its own lost answer', mine('COMPLETED'), 'complete', 'done'],
    ['failure', 'its own lost answer', mine('FAILED'), 'fail', 'done'],
    ['resumption', 'its own lost answer', mine('RETRYABLE'), 'resume', 'done'],
    ['release', 'its own lost answer', mine('RELEASED'), 'release', 'done'],
    ['release', 'a record that is gone', undefined, 'release', 'done'],
    ['failure', 'its own completion', mine('COMPLETED'), 'fail', 'completed'],
    ['release', 'its own completion', mine('COMPLETED'), 'release', 'completed'],
    ['resumption', 'its own completion', mine('COMPLETED'), 'resume', 'completed'],
    ['completion', 'a record that is gone', undefined, 'complete', 'lost'],
    ['completion', "another's lease", record({ attempt: 2 }), 'complete', 'lost'],
    ['completion', "another's completion", record({ status: 'COMPLETED' }), 'complete', 'lost'],
    ['release', "another's lease", record({}), 'release', 'lost'],
    ['extension', 'its own completion', mine('COMPLETED'), 'extend', 'completed'],
  ] as const)('a %s that met %s', (_write, _met, there, intent, kind) => {
    expect(decideHeld(there, 'mine', intent).kind).toBe(kind)
  })
})
