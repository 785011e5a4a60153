import { describe, expect, test } from 'vitest'
import { batchVerdict } from '../../infra/local/event-source-mapping/batch-response.ts'

const ids = ['a', 'b', 'c']
const verdictOf = (payload: unknown, reports = true) =>
  batchVerdict({ kind: 'returned', requestId: 'r', payload }, ids, reports)

describe('with ReportBatchItemFailures', () => {
  test.each([
    [null],
    [''],
    [{}],
    [{ batchItemFailures: [] }],
    [{ batchItemFailures: null }],
    [{ somethingElse: true }],
  ])('%j means that every message succeeded', (payload) => {
    expect(verdictOf(payload)).toEqual({ kind: 'all-succeeded' })
  })

  test.each([
    [{ batchItemFailures: [{ itemIdentifier: 'b' }] }, ['b']],
    [{ batchItemFailures: [{ itemIdentifier: 'c' }, { itemIdentifier: 'a' }, { itemIdentifier: 'c' }] }, ['a', 'c']],
    [{ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) }, ids],
  ])('%j means that those failed', (payload, failed) => {
    const verdict = verdictOf(payload)
    expect(verdict.kind === 'some-failed' && [...verdict.failedIds].sort()).toEqual(failed)
  })

  test.each([
    [{ batchItemFailures: [{ itemIdentifier: 'unknown' }] }],
    [{ batchItemFailures: [{ itemIdentifier: 'a' }, { itemIdentifier: 'unknown' }] }],
    [{ batchItemFailures: [{ itemIdentifier: '' }] }],
    [{ batchItemFailures: [{ itemIdentifier: null }] }],
    [{ batchItemFailures: [{ messageId: 'a' }] }],
    [{ batchItemFailures: [null] }],
    [{ batchItemFailures: ['a'] }],
    [{ batchItemFailures: 'a' }],
    [{ batchItemFailures: { itemIdentifier: 'a' } }],
    ['done'],
    [42],
    [[]],
  ])('%j fails the whole batch', (payload) => {
    expect(verdictOf(payload).kind).toBe('all-failed')
  })
})

test('without ReportBatchItemFailures whatever is returned deletes all', () => {
  expect(verdictOf({ batchItemFailures: [{ itemIdentifier: 'a' }] }, false)).toEqual({ kind: 'all-succeeded' })
})

test.each([[true], [false]])('a function error keeps all (reports: %j)', (reports) => {
  const result = { kind: 'error', requestId: 'r', errorType: 'Runtime.ExitError', errorMessage: 'killed' } as const
  expect(batchVerdict(result, ids, reports)).toEqual({ kind: 'all-failed', reason: 'Runtime.ExitError: killed' })
})
