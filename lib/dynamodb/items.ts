import { StoreError } from '../base/errors.ts'
import { type OperationRecord, RECORD_SORT_KEY } from '../record/record.ts'
import type { BesideItem } from '../record/store.ts'

/** The key of an operation's record. */
export function recordKey(id: string): { readonly pk: string; readonly sk: string } {
  return itemKey(id, RECORD_SORT_KEY)
}

/** The key of an item under an operation. */
export function itemKey(id: string, sk: string): { readonly pk: string; readonly sk: string } {
  return { pk: id, sk }
}

/**
 * The key of one piece of a large value. Each piece is a partition of its own: one partition takes about
 * 1,000 write units a second, and a piece costs up to 380.
 */
export function partKey(partsId: string, index: number): { readonly pk: string; readonly sk: string } {
  return { pk: `part#${partsId}#${index}`, sk: 'part' }
}

/** The record as an item. */
export function toItem({ id, ...attributes }: OperationRecord): Record<string, unknown> {
  return { ...recordKey(id), ...attributes }
}

/** @throws StoreError when the item was not written by this package: nothing can be decided from it. */
export function toRecord(item: Record<string, unknown>): OperationRecord {
  const { pk, sk, ...attributes } = item
  const { token, status, steps = {} } = attributes
  const areSteps = typeof steps === 'object' && steps !== null
  if (typeof pk !== 'string' || typeof token !== 'string' || typeof status !== 'string' || !areSteps) {
    throw new StoreError(
      `The item ${String(pk)} / ${String(sk)} is not a lambda-once record. Give lambda-once a table of its own.`,
      { retryable: false },
    )
  }
  return { steps: {}, ...attributes, id: pk } as unknown as OperationRecord
}

/** Something beside a record as an item. */
export function toBesideItem(id: string, { sk, attributes }: BesideItem): Record<string, unknown> {
  return { ...attributes, ...itemKey(id, sk) }
}

/** The reverse of {@link toBesideItem}. */
export function fromBesideItem({ pk: _id, sk, ...attributes }: Record<string, unknown>): BesideItem {
  return { sk: String(sk), attributes }
}
