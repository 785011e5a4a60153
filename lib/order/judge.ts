import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { type ResolvedGuard, TOMBSTONE_ATTRIBUTE, type Version } from './guard.ts'
import type { Tombstone } from './if-newer.ts'

/** An item as a failed condition brings it: marshalled, through the document client too. */
export type StoredItem = Readonly<Record<string, AttributeValue>>

/** What the item that stood against a guarded write tells. */
export type Finding =
  | { readonly kind: 'stale' }
  | { readonly kind: 'other-type'; readonly stored: string }
  /** The order was right, so it is the user's own condition that failed. */
  | { readonly kind: 'condition-failed' }
  /** An update met the remains of a deleted item, and is newer. */
  | { readonly kind: 'over-tombstone'; readonly tombstone: Tombstone }
  /** An update was meant for a tombstone that is gone by now. */
  | { readonly kind: 'over-live' }

/** Which write failed: an update is meant either for what lives, or for exactly one tombstone. */
export interface FailedWrite {
  /** The names of an update's key attributes; `undefined` of a put, which replaces whatever is there. */
  readonly updateKey: readonly string[] | undefined
  readonly over: Tombstone | undefined
}

/** The order is looked at first: a stale write is stale whether or not its own condition would have held. */
export function judge(item: StoredItem | undefined, guard: ResolvedGuard, failed: FailedWrite): Finding {
  const stored = item?.[guard.attribute]
  if (item === undefined || stored === undefined) {
    return failed.over === undefined ? { kind: 'condition-failed' } : { kind: 'over-live' }
  }
  const order = compare(stored, guard.value)
  if (order === undefined) return { kind: 'other-type', stored: typeName(stored) }
  if (order >= 0) return { kind: 'stale' }
  if (failed.updateKey === undefined) return { kind: 'condition-failed' }

  const tombstone = tombstoneOf(item, guard.attribute, failed.updateKey)
  if (tombstone?.version === failed.over?.version) return { kind: 'condition-failed' }
  return tombstone === undefined ? { kind: 'over-live' } : { kind: 'over-tombstone', tombstone }
}

/** An item as people read it. Whole numbers beyond 2^53 become bigints, so that none loses digits. */
export function plain(item: StoredItem): Record<string, unknown> {
  return unmarshall({ ...item }, { wrapNumbers: exactNumber })
}

/** Known by its whole shape, a time to live apart: what else carries such an attribute is never cleared away. */
function tombstoneOf(item: StoredItem, attribute: string, key: readonly string[]): Tombstone | undefined {
  const own = [...key, attribute, TOMBSTONE_ATTRIBUTE]
  const remains = Object.keys(item).filter((name) => !own.includes(name))
  if (item[TOMBSTONE_ATTRIBUTE]?.BOOL !== true || remains.length > 1) return undefined
  return { version: plain(item)[attribute] as Version, remains }
}

/** Below 0 when the stored version is lower; `undefined` when the two are of different types. */
function compare(stored: AttributeValue, value: Version): number | undefined {
  if (typeof value === 'string') {
    // DynamoDB orders strings by their UTF-8 bytes, JavaScript by UTF-16 units.
    return stored.S === undefined ? undefined : Buffer.compare(Buffer.from(stored.S), Buffer.from(value))
  }
  if (stored.N === undefined) return undefined
  const number = exactNumber(stored.N)
  if (number === value) return 0
  // A bigint and a number compare exactly.
  return number < value ? -1 : Number(number > value)
}

function exactNumber(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text)
}

function typeName(value: AttributeValue): string {
  if (value.S !== undefined) return 'a string'
  if (value.N !== undefined) return 'a number'
  return `of DynamoDB's type ${Object.keys(value)[0]}`
}
