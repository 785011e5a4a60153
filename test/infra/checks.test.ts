import { describe, expect, test } from 'vitest'
import { ALL_CHECKS } from '../../lib/checks/all.ts'
import { type Check, judge } from '../../lib/checks/check.ts'
import { QUEUE_CHECKS } from '../../lib/checks/queue-checks.ts'
import type { QueueFacts } from '../../lib/checks/queue-facts.ts'
import {
  API_CHECKS,
  type ApiFacts,
  RECONCILER_CHECKS,
  RELAY_CHECKS,
  type ReconcilerFacts,
  type RelayFacts,
} from '../../lib/checks/service-checks.ts'
import { TABLE_CHECKS, type TableFacts } from '../../lib/checks/table-checks.ts'

/** A change to a sound configuration, the check it breaks (none: it is still sound), and what the message must say. */
type Case<Facts> = readonly [change: Partial<Facts>, id: string | undefined, ...says: string[]]

const DAY = 86_400
const deadLetters = { kind: 'known', fifo: false, retentionSeconds: 14 * DAY, maxReceiveCount: 5 } as const
const soundQueue: QueueFacts = {
  fifo: false,
  visibilitySeconds: 60,
  queueRetentionSeconds: 4 * DAY,
  deadLetters,
  functionTimeoutSeconds: 10,
  recordRetentionSeconds: 18 * DAY,
  outboxSeconds: 0,
  batchSize: 10,
  batchingWindowSeconds: 0,
  reportsBatchItemFailures: true,
  filters: 0,
  acknowledgeDrop: false,
  consumerHasRole: true,
}
const fifo = { fifo: true, deadLetters: { ...deadLetters, fifo: true }, recordRetentionSeconds: 22 * DAY }
const queueCases: readonly Case<QueueFacts>[] = [
  [{ visibilitySeconds: 9 }, 'visibility-below-timeout', '9 s', '10 s', '60 s'],
  [{ visibilitySeconds: 10 }, 'visibility-below-six-timeouts', '10 s', '60 s'],
  [{ visibilitySeconds: 59 }, 'visibility-below-six-timeouts', '59 s', '60 s'],
  [{ batchingWindowSeconds: 5 }, 'visibility-below-six-timeouts', '60 s', '65 s'],
  [{ batchingWindowSeconds: 5, visibilitySeconds: 65 }, undefined],
  [{ leaseSeconds: 61 }, 'lease-beyond-visibility', '61 s', '60 s'],
  [{ leaseSeconds: 60 }, undefined],
  [{ recordRetentionSeconds: 18 * DAY - 1 }, 'retention-below-redelivery', `${18 * DAY - 1} s`, `${18 * DAY} s`],
  [{ outboxSeconds: DAY + 300 }, 'retention-below-redelivery', `${18 * DAY} s`, `${19 * DAY + 300} s`],
  [{ outboxSeconds: DAY + 300, recordRetentionSeconds: 19 * DAY + 300 }, undefined],
  [{ ...fifo, recordRetentionSeconds: 22 * DAY - 1 }, 'retention-below-redelivery', `${22 * DAY} s`],
  [fifo, undefined],
  [{ deadLetters: { kind: 'none' } }, 'no-dead-letters', '345600 s'],
  [{ deadLetters: { ...deadLetters, retentionSeconds: 4 * DAY } }, 'dead-letters-not-kept-longer', '345600 s'],
  [{ deadLetters: { ...deadLetters, retentionSeconds: 4 * DAY + 1 } }, undefined],
  [{ ...fifo, deadLetters: { ...fifo.deadLetters, retentionSeconds: 4 * DAY } }, undefined],
  [
    { ...fifo, deadLetters: { ...fifo.deadLetters, retentionSeconds: 4 * DAY - 1 } },
    'dead-letters-not-kept-longer',
    '345599 s',
    '345600 s',
  ],
  [{ ...fifo, deadLetters }, 'dead-letters-of-other-type', 'FIFO', 'standard'],
  [{ deadLetters: fifo.deadLetters }, 'dead-letters-of-other-type', 'standard', 'FIFO'],
  [{ deadLetters: { ...deadLetters, maxReceiveCount: 4 } }, 'few-receives', '4', '5'],
  [{ reportsBatchItemFailures: false }, 'batch-item-failures-off', 'all 10 messages'],
  [{ ...fifo, batchingWindowSeconds: 1, visibilitySeconds: 61 }, 'batching-window-on-fifo', '1 s', '0 s'],
  [{ ...fifo, batchSize: 11 }, 'batch-size-on-fifo', '11', '10'],
  [{ batchSize: 11 }, 'batch-size-without-window', '11', '10'],
  [{ batchSize: 11, batchingWindowSeconds: 1, visibilitySeconds: 61 }, undefined],
  [{ ...fifo, batchSize: undefined, batchingWindowSeconds: undefined }, undefined],
  [{ batchSize: 10_001, batchingWindowSeconds: 1, visibilitySeconds: 61 }, 'batch-size-beyond-limit', '10001', '10000'],
  [{ batchSize: 11, batchingWindowSeconds: undefined }, undefined],
  [{ maxConcurrency: 1 }, 'max-concurrency-too-low', '1', '2'],
  [{ maxConcurrency: 2 }, undefined],
  [{ maxConcurrency: 6, reservedConcurrency: 5 }, 'reserved-below-max-concurrency', '5', '6'],
  [{ maxConcurrency: 5, reservedConcurrency: 5 }, undefined],
  [{ maxConcurrency: 2, reservedConcurrency: 2 }, undefined],
  [{ reservedConcurrency: 4 }, 'reserved-without-max-concurrency', '4', '5'],
  [{ reservedConcurrency: 5 }, undefined],
  [{ filters: 2 }, 'filter-deletes-messages', '2 filters', 'acknowledgeDrop: true'],
  [{ filters: 2, acknowledgeDrop: true }, undefined],
  [{ consumerHasRole: false }, 'permissions-not-granted', '0 of the 2'],
  [{ visibilitySeconds: undefined }, 'numbers-not-known', '1 of 4', 'visibilityTimeout', '1209600 s'],
  [{ queueRetentionSeconds: undefined }, 'numbers-not-known', '1 of 4', 'retentionPeriod'],
  [{ functionTimeoutSeconds: undefined }, 'numbers-not-known', '1 of 4', 'consumerTimeout'],
  [{ deadLetters: { kind: 'unknown' } }, 'numbers-not-known', '1 of 4', 'deadLetterRetentionPeriod'],
  [{ deadLetters: { kind: 'known', fifo: false } }, 'numbers-not-known', '1 of 4', 'deadLetterRetentionPeriod'],
]

const soundTable: TableFacts = {
  regions: 1,
  stronglyConsistent: false,
  acknowledgeHomeRegion: false,
  keys: ['pk (S)', 'sk (S)'],
  ttlAttribute: 'expiresAt',
  indexes: [],
  deletedWithStack: false,
  deletionProtection: true,
  pointInTimeRecovery: true,
  wantsIndex: false,
  wantsStream: false,
}
const due = { name: 'due', keys: ['dueShard (S)', 'dueAtMs (N)'] }
const tableCases: readonly Case<TableFacts>[] = [
  [{ regions: 2 }, 'replicas', '2 regions', 'acknowledgeHomeRegion: true'],
  [{ regions: 2, acknowledgeHomeRegion: true }, undefined],
  [{ regions: 3, stronglyConsistent: true }, 'strongly-consistent-replicas', '3 regions', 'TTL and transactions'],
  [{ regions: 3, stronglyConsistent: true, acknowledgeHomeRegion: true }, 'strongly-consistent-replicas'],
  [{ keys: ['id (S)'] }, 'other-keys', '1 keys (id (S))', '2 (pk (S), sk (S))'],
  [{ keys: ['sk (S)', 'pk (S)'] }, 'other-keys'],
  [{ keys: ['pk (S)', 'sk (N)'] }, 'other-keys', 'sk (N)'],
  [{ ttlAttribute: undefined }, 'other-ttl-attribute', '0 attributes', 'expiresAt'],
  [{ ttlAttribute: 'ttl' }, 'other-ttl-attribute', '"ttl"', 'expiresAt'],
  [
    { wantsIndex: true, indexes: [{ name: 'gsi1', keys: [] }] },
    'no-reconciler-index',
    '1 indexes',
    'reconcilerIndex: true',
  ],
  [{ wantsIndex: true, indexes: [due] }, undefined],
  [{ wantsIndex: true, indexes: [{ ...due, attributes: ['status', 'more'] }] }, undefined],
  [{ wantsIndex: true, indexes: [{ ...due, attributes: [] }] }, 'other-reconciler-index', 'lacks 1 attributes', '2 ('],
  [{ wantsIndex: true, indexes: [{ ...due, keys: ['dueShard (S)'] }] }, 'other-reconciler-index', '1 keys'],
  [{ indexes: [{ ...due, keys: [] }] }, undefined],
  [{ wantsStream: true }, 'no-stream', '0 of the 1', 'stream: true'],
  [{ wantsStream: true, stream: 'KEYS_ONLY' }, 'no-stream', 'KEYS_ONLY'],
  [{ wantsStream: true, stream: 'OLD_IMAGE' }, 'no-stream'],
  [{ wantsStream: true, stream: 'NEW_IMAGE' }, undefined],
  [{ wantsStream: true, stream: 'NEW_AND_OLD_IMAGES' }, undefined],
  [{ deletedWithStack: true }, 'records-can-be-lost', '1 of 3', 'RETAIN'],
  [{ deletionProtection: false }, 'records-can-be-lost', '1 of 3', 'deletionProtection'],
  [{ pointInTimeRecovery: false }, 'records-can-be-lost', '1 of 3', 'pointInTimeRecovery'],
]

const soundApi: ApiFacts = {
  functionTimeoutSeconds: 29,
  routes: 2,
  routesWithAuthorizer: 2,
  acknowledgeAnonymous: false,
  keyHeader: 'idempotency-key',
}
const apiCases: readonly Case<ApiFacts>[] = [
  [{ routesWithAuthorizer: 1 }, 'anonymous-routes', '1 of 2', 'acknowledgeAnonymous: true'],
  [{ routesWithAuthorizer: 0, acknowledgeAnonymous: true }, undefined],
  [{ functionTimeoutSeconds: 31 }, 'api-gives-up-first', '31 s', '30 s'],
  [{ functionTimeoutSeconds: 30 }, undefined],
  [{ functionTimeoutSeconds: undefined }, undefined],
  [{ corsAllowHeaders: ['content-type'] }, 'cors-without-key-header', '1 headers', 'idempotency-key'],
  [{ corsAllowHeaders: ['idempotency-key'] }, undefined],
  [{ corsAllowHeaders: ['*'] }, undefined],
]

const soundRelay: RelayFacts = {
  reconcilers: 1,
  acknowledgeNoReconciler: false,
  reportsBatchItemFailures: true,
  startsAtHorizon: true,
  filters: 1,
  retryAttempts: 20,
  hasFailureDestination: true,
}
const relayCases: readonly Case<RelayFacts>[] = [
  [{ reconcilers: 0 }, 'relay-without-reconciler', '0 reconcilers', '1 is needed', 'acknowledgeNoReconciler: true'],
  [{ reconcilers: 0, acknowledgeNoReconciler: true }, undefined],
  [{ retryAttempts: -1 }, 'relay-stops-the-shard', 'endless retries'],
  [{ hasFailureDestination: false }, 'relay-stops-the-shard', '0 failure destinations'],
  [{ reportsBatchItemFailures: false }, 'relay-stops-the-shard', '0 response types'],
  [{ startsAtHorizon: false }, 'relay-misses-messages', 'at the end'],
  [{ filters: 0 }, 'relay-misses-messages', '0 filters'],
]

const soundReconciler: ReconcilerFacts = { periodSeconds: 300, functionTimeoutSeconds: 300 }
const reconcilerCases: readonly Case<ReconcilerFacts>[] = [
  [{ periodSeconds: 299 }, 'reconciler-overlaps', '299 s', '300 s'],
  [{ functionTimeoutSeconds: undefined }, undefined],
]

describe.each([
  ['a queue and its consumer', QUEUE_CHECKS, soundQueue, queueCases],
  ['a table', TABLE_CHECKS, soundTable, tableCases],
  ['an API', API_CHECKS, soundApi, apiCases],
  ['an outbox relay', RELAY_CHECKS, soundRelay, relayCases],
  ['a reconciler', RECONCILER_CHECKS, soundReconciler, reconcilerCases],
] as unknown as [string, Check<object>[], object, Case<Record<string, unknown>>[]][])(
  '%s',
  (_, checks, sound, cases) => {
    test('is left in peace when it is sound', () => {
      expect(judge(checks, sound)).toEqual([])
    })

    test.each(cases)('%j is found as %s', (change, id, ...says) => {
      const findings = judge(checks, { ...sound, ...(change as object) })
      expect(findings.map((finding) => finding.id)).toEqual(id === undefined ? [] : [id])
      for (const words of says) expect(findings[0]?.message).toContain(words)
    })

    test('has a case for each of its checks', () => {
      expect(new Set(cases.flatMap(([, id]) => id ?? []))).toEqual(new Set(checks.map(({ id }) => id)))
    })
  },
)

test('every check has an id of its own', () => {
  const ids = ALL_CHECKS.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)])
})

test('an acknowledgement named in the list is named in the message', () => {
  expect(ALL_CHECKS.flatMap(({ acknowledgedBy }) => acknowledgedBy ?? [])).toEqual([
    'acknowledgeDrop',
    'acknowledgeHomeRegion',
    'acknowledgeAnonymous',
    'acknowledgeNoReconciler',
  ])
})
