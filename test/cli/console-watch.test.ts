import { describe, expect, test } from 'vitest'
import { attemptsOf } from '../../lib/cli/watch/attempts.ts'
import { changesBetween } from '../../lib/cli/watch/changes.ts'
import { type Happening, told } from '../../lib/cli/watch/happening.ts'
import { createJournal } from '../../lib/cli/watch/journal.ts'
import { COLUMNS, seriesOf } from '../../lib/cli/watch/series.ts'
import type { WatchedTable } from '../../lib/cli/watch/table.ts'
import { createWatch } from '../../lib/cli/watch/watch.ts'
import type { OperationRecord } from '../../lib/record/record.ts'

const record = (change: Partial<OperationRecord> = {}): OperationRecord => ({
  id: 'orders#1',
  status: 'IN_PROGRESS',
  attempt: 1,
  token: 'a',
  rev: 1,
  takeover: 'auto',
  createdAtMs: 1_000,
  updatedAtMs: 1_000,
  fingerprint: '',
  steps: {},
  schema: 1,
  ...change,
})
const value = { kind: 'text', text: '1' } as const

describe('between two readings', () => {
  test.each<[string, OperationRecord | undefined, Partial<OperationRecord>, unknown[]]>([
    ['nothing happens to what is unchanged', record(), {}, []],
    ['a new record was claimed when it was created', undefined, {}, [{ kind: 'claimed', atMs: 1_000, attempt: 1 }]],
    ['a lease that was extended is no news', record(), { rev: 2, updatedAtMs: 2_000 }, []],
    [
      'a running one that has another attempt was taken over, at the last write or before',
      record(),
      { attempt: 2, updatedAtMs: 9_000 },
      [{ kind: 'taken-over', atMs: 9_000, attempt: 2, isBy: true }],
    ],
    [
      'one that was given up was continued',
      record({ status: 'RETRYABLE' }),
      { attempt: 2, updatedAtMs: 9_000 },
      [{ kind: 'resumed', atMs: 9_000, attempt: 2, isBy: true }],
    ],
    [
      'a step was begun at its own time, and done by the last write',
      record(),
      {
        updatedAtMs: 3_000,
        steps: { charge: { kind: 'done', value }, mail: { kind: 'started', startedAtMs: 2_500 } },
      },
      [
        { kind: 'step-begun', atMs: 2_500, attempt: 1, detail: 'mail' },
        { kind: 'step-done', atMs: 3_000, attempt: 1, detail: 'charge', isBy: true },
      ],
    ],
    [
      'it ended after the step that was seen with it',
      record(),
      { status: 'COMPLETED', updatedAtMs: 3_000, steps: { charge: { kind: 'done', value } } },
      [
        { kind: 'step-done', atMs: 3_000, attempt: 1, detail: 'charge', isBy: true },
        { kind: 'completed', atMs: 3_000, attempt: 1 },
      ],
    ],
    [
      'two failures in a row are two',
      record({ status: 'RETRYABLE' }),
      { status: 'RETRYABLE', attempt: 2, updatedAtMs: 5_000 },
      [
        { kind: 'resumed', atMs: 5_000, attempt: 2, isBy: true },
        { kind: 'resumable', atMs: 5_000, attempt: 2 },
      ],
    ],
    [
      'a key that was free was claimed anew',
      record({ status: 'RELEASED', attempt: 3 }),
      { createdAtMs: 8_000, updatedAtMs: 8_000 },
      [{ kind: 'claimed', atMs: 8_000, attempt: 1 }],
    ],
    [
      'an unknown one names its step',
      record(),
      { status: 'UNKNOWN', unknownStep: 'charge', updatedAtMs: 2_000 },
      [{ kind: 'unknown', atMs: 2_000, attempt: 1, detail: 'charge' }],
    ],
  ])('%s', (_, before, change, expected) => {
    expect(changesBetween(before, record(change))).toEqual(expected)
  })
})

describe('a story', () => {
  test('counts what happens again and again, and keeps when it happened last', () => {
    const replayed = (atMs: number): Happening => ({ kind: 'replayed', atMs, attempt: 1 })
    expect(told([{ kind: 'claimed', atMs: 1 }, replayed(2), replayed(3), { kind: 'mismatched', atMs: 4 }])).toEqual([
      { kind: 'claimed', atMs: 1, times: 1, lastMs: 1 },
      { kind: 'replayed', atMs: 2, attempt: 1, times: 2, lastMs: 3 },
      { kind: 'mismatched', atMs: 4, times: 1, lastMs: 4 },
    ])
  })

  test('is in the order of its times, however late it is told, and never grows without end', () => {
    const journal = createJournal()
    journal.add('1', { kind: 'completed', atMs: 5 })
    journal.add('1', { kind: 'claimed', atMs: 1 })
    expect(journal.storyOf('1').map(({ kind }) => kind)).toEqual(['claimed', 'completed'])
    for (let atMs = 10; atMs < 1_000; atMs += 1) journal.add('1', { kind: 'replayed', atMs })
    expect(journal.storyOf('1').length).toBe(100)
    expect(journal.storyOf('1').map(({ atMs }) => atMs)).toEqual(expect.arrayContaining([1, 5, 999]))
    for (let id = 0; id < 6_000; id += 1) journal.add(`other-${id}`, { kind: 'claimed', atMs: 1 })
    expect([journal.storyOf('1'), journal.storyOf('other-5999')]).toEqual([[], [{ kind: 'claimed', atMs: 1 }]])
  })

  test('gives each attempt its beginning and its end, and says which of them nobody knows', () => {
    const story: Happening[] = [
      { kind: 'claimed', atMs: 1, attempt: 1, by: 'worker' },
      { kind: 'taken-over', atMs: 9, attempt: 2 },
      { kind: 'resumable', atMs: 10, attempt: 2 },
    ]
    expect(attemptsOf(record({ attempt: 4 }), story)).toEqual([
      { number: 1, beganAtMs: 1, end: 'without a word', by: 'worker' },
      { number: 2, beganAtMs: 9, endedAtMs: 10, end: 'resumable' },
      { number: 3, end: 'not known' },
      { number: 4, end: 'running' },
    ])
  })

  test('of a key that began anew leaves out what was before', () => {
    const story: Happening[] = [
      { kind: 'claimed', atMs: 1, attempt: 1 },
      { kind: 'released', atMs: 2, attempt: 1 },
      { kind: 'claimed', atMs: 8, attempt: 1 },
    ]
    expect(attemptsOf(record(), story)).toEqual([{ number: 1, beganAtMs: 8, end: 'running' }])
  })
})

test('a chart counts each moment in its column, leaves out what is older, and stays where it is as time goes on', () => {
  const windowMs = COLUMNS * 1_000
  const moments = [0, 59_000, 59_999, 60_500]
  const known = (kind: string) => (kind === 'replayed' ? undefined : moments)
  const series = seriesOf(known, windowMs, 60_900)
  expect([series.fromMs, series.stepMs, series.counts.replayed]).toEqual([1_000, 1_000, undefined])
  expect(series.counts.claimed?.slice(-2)).toEqual([2, 1])
  expect(series.counts.claimed?.reduce((sum, one) => sum + one)).toBe(3)
  expect(seriesOf(known, windowMs, 60_001).fromMs).toBe(1_000)
})

describe('a table that is too large for one reading', () => {
  const items = Array.from({ length: 4_500 }, (_, index) => {
    const { id: _id, ...attributes } = record({ createdAtMs: index })
    return { pk: `orders#${index}`, sk: 'op', ...attributes }
  })
  const tableOf = (all: typeof items): WatchedTable => ({
    tableName: 't',
    endpoint: undefined,
    region: undefined,
    isLocal: false,
    store: undefined as never,
    readPage: async (from, most) => {
      const start = Number(from?.at ?? 0)
      const page = all.slice(start, start + most)
      const next = start + most
      return { items: page, read: page.length, ...(next < all.length && { next: { at: next } }) }
    },
  })

  test('is read on from where the last reading ended, and as a whole in the end', async () => {
    const watch = createWatch(tableOf(items), createJournal(), false)
    await watch.read()
    expect(watch.reading()).toMatchObject({ items: 2_000, sweeps: 0, isWhole: false })
    await watch.read()
    await watch.read()
    expect(watch.reading()).toMatchObject({ items: 500, sweeps: 1, isWhole: false })
    expect([...watch.operations()]).toHaveLength(4_500)
  })

  test('loses what is gone at the end of the next sweep, not before', async () => {
    const all = items.slice(0, 10)
    const watch = createWatch(tableOf(all), createJournal(), false)
    await watch.read()
    all.shift()
    await watch.read()
    expect([watch.operation('orders#0'), watch.reading()?.isWhole]).toEqual([undefined, true])
    expect([...watch.operations()]).toHaveLength(9)
  })
})
