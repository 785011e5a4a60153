import { fromBesideItem, toRecord } from '../../dynamodb/items.ts'
import { type OperationRecord, RECORD_SORT_KEY } from '../../record/record.ts'
import { messageOf, type StoredMessage } from '../operation/read.ts'
import type { Item } from '../scan.ts'
import { changesBetween, isOnlyInTable } from './changes.ts'
import type { Journal } from './journal.ts'
import type { WatchedTable } from './table.ts'

/** Items of one request, and of one reading: what is more is left to the next reading. */
const PAGE_ITEMS = 500
const READING_ITEMS = 2_000
/** Operations that are kept in memory; of a larger table those that were written last. */
const MOST_OPERATIONS = 5_000

/** How far the table has been read. */
export interface Reading {
  readonly atMs: number
  /** Items of the last reading: what DynamoDB bills. */
  readonly items: number
  /** How often the end of the table was reached. */
  readonly sweeps: number
  /** The last reading began at the beginning and reached the end. */
  readonly isWhole: boolean
  /** The table has more operations than are kept here. */
  readonly isTrimmed: boolean
}

/** What the table holds, as of the last reading. */
export interface Watch {
  readonly table: WatchedTable
  readonly journal: Journal
  /** Whether the engine's events are told here, too: they know of replays and conflicts, which no table holds. */
  readonly hasEvents: boolean
  /** Reads on from where the last reading ended; two at once are one. @throws what the SDK throws */
  read(): Promise<void>
  operations(): Iterable<OperationRecord>
  operation(id: string): OperationRecord | undefined
  messagesOf(id: string): readonly StoredMessage[]
  /** Operations that have messages. */
  withMessages(): Iterable<string>
  /** `undefined`: it was not read yet. */
  reading(): Reading | undefined
}

/** Makes the watch of a table; it reads nothing by itself. */
export function createWatch(table: WatchedTable, journal: Journal, hasEvents: boolean): Watch {
  const records = new Map<string, OperationRecord>()
  const messages = new Map<string, Map<string, StoredMessage>>()
  let seen = new Set<string>()
  let next: Item | undefined
  let sweeps = 0
  let isTrimmed = false
  let last: Reading | undefined
  let running: Promise<void> | undefined

  function take(item: Item): void {
    const id = String(item.pk)
    const sk = String(item.sk)
    seen.add(`${id} ${sk}`)
    if (sk !== RECORD_SORT_KEY) {
      const beside = messages.get(id) ?? new Map<string, StoredMessage>()
      beside.set(sk, messageOf(fromBesideItem({ ...item })))
      messages.set(id, beside)
      return
    }
    const record = toRecord({ ...item })
    const before = records.get(id)
    if (before?.rev === record.rev && before.token === record.token) return
    for (const change of changesBetween(before, record)) {
      if (!hasEvents || isOnlyInTable(change)) journal.add(id, change)
    }
    records.set(id, record)
  }

  /** After the end of the table what was not met any more is gone. */
  function endSweep(): void {
    for (const id of records.keys()) if (!seen.has(`${id} ${RECORD_SORT_KEY}`)) records.delete(id)
    for (const [id, beside] of messages) {
      for (const sk of beside.keys()) if (!seen.has(`${id} ${sk}`)) beside.delete(sk)
      if (beside.size === 0) messages.delete(id)
    }
    isTrimmed = records.size > MOST_OPERATIONS
    seen = new Set()
    sweeps += 1
  }

  function trim(): void {
    if (records.size <= MOST_OPERATIONS) return
    isTrimmed = true
    const oldestFirst = [...records.values()].sort((a, b) => a.updatedAtMs - b.updatedAtMs)
    for (const { id } of oldestFirst.slice(0, records.size - MOST_OPERATIONS)) records.delete(id)
  }

  async function readOn(): Promise<void> {
    const isFromStart = next === undefined
    let items = 0
    do {
      const page = await table.readPage(next, PAGE_ITEMS)
      items += page.read
      next = page.next
      for (const item of page.items) take(item)
    } while (next !== undefined && items < READING_ITEMS)
    const isEnd = next === undefined
    if (isEnd) endSweep()
    trim()
    last = { atMs: Date.now(), items, sweeps, isWhole: isFromStart && isEnd, isTrimmed }
  }

  return Object.freeze({
    table,
    journal,
    hasEvents,
    read: () => {
      running ??= readOn().finally(() => {
        running = undefined
      })
      return running
    },
    operations: () => records.values(),
    operation: (id: string) => records.get(id),
    messagesOf: (id: string) => [...(messages.get(id)?.values() ?? [])],
    withMessages: () => messages.keys(),
    reading: () => last,
  })
}
