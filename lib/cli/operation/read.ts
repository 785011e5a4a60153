import { type FoundEntry, readEntry } from '../../outbox/outbox-item.ts'
import type { ReceiptKind } from '../../outcome/receipts.ts'
import { type OperationRecord, OUTBOX_PREFIX, RECEIPT_PREFIX, type StoredValue } from '../../record/record.ts'
import type { BesideItem, Store } from '../../record/store.ts'
import { CliFailure, EXIT } from '../exit.ts'
import type { NameOptions } from './name.ts'

/** A receipt as it lies in the table: its value is not read. */
export interface StoredReceipt {
  readonly sk: string
  readonly kind: ReceiptKind
  readonly atMs: number
  readonly attempt: number
  readonly step?: string
  readonly value: StoredValue
  readonly expiresAt?: number
}

/** A message as it lies in the outbox. */
export interface StoredMessage {
  readonly item: BesideItem
  readonly found: FoundEntry
  readonly dispatchedAtMs?: number
  readonly stuckAtMs?: number
  readonly stuckReason?: string
}

/** Everything that lies under one operation. */
export interface FoundOperation {
  readonly id: string
  /** Absent: its retention is over and DynamoDB has deleted it, or it never was. */
  readonly record: OperationRecord | undefined
  readonly receipts: readonly StoredReceipt[]
  readonly messages: readonly StoredMessage[]
}

/** @throws CliFailure when nothing lies there */
export async function readOperation(store: Store, id: string, asked: NameOptions): Promise<FoundOperation> {
  const [record, receipts, messages] = await Promise.all([
    store.get(id),
    store.listBeside(id, RECEIPT_PREFIX),
    store.listBeside(id, OUTBOX_PREFIX),
  ])
  if (record === undefined && receipts.length === 0 && messages.length === 0) throw notFound(id, asked)
  return { id, record, receipts: receipts.map(receiptOf), messages: messages.map(messageOf) }
}

/** The record of an operation that is to be changed. @throws CliFailure when there is none */
export async function readRecord(store: Store, id: string, asked: NameOptions): Promise<OperationRecord> {
  const record = await store.get(id)
  if (record === undefined) throw notFound(id, asked)
  return record
}

/** An item beside a record as a receipt. */
export function receiptOf({ sk, attributes }: BesideItem): StoredReceipt {
  // Written by this package under a prefix of its own.
  return { sk, ...attributes } as unknown as StoredReceipt
}

/** An item beside a record as a message. */
export function messageOf(item: BesideItem): StoredMessage {
  const { dispatchedAtMs, stuckAtMs, stuckReason } = item.attributes
  return {
    item,
    found: readEntry(item.attributes),
    ...(typeof dispatchedAtMs === 'number' && { dispatchedAtMs }),
    ...(typeof stuckAtMs === 'number' && { stuckAtMs }),
    ...(typeof stuckReason === 'string' && { stuckReason }),
  }
}

function notFound(id: string, { key, scope, namespace }: NameOptions): CliFailure {
  if (key === undefined) {
    return new CliFailure(
      EXIT.notFound,
      `There is no operation ${id} in this table. Its retention may be over; or it is in another table or region.`,
    )
  }
  const named = scope === undefined ? 'without a scope' : `with scope ${JSON.stringify(scope)}`
  return new CliFailure(
    EXIT.notFound,
    `There is no operation in namespace "${namespace}" ${named} under that key (its id would be ${id}). The scope is part of the name: a batch handler's default is its queue's ARN, an HTTP handler's is method, path and principal. \`lambda-once list --namespace ${namespace}\` shows what is there.`,
  )
}
