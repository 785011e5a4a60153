/** What the attributes of a Powertools record are called. */
export interface Names {
  readonly key: string
  readonly sortKey?: string
  readonly status: string
  /** Seconds. */
  readonly expiry: string
  /** Milliseconds. */
  readonly inProgressExpiry: string
  readonly data: string
  readonly validation: string
}

/** What they are called by default. */
export const FIRST_NAMES: Names = {
  key: 'id',
  status: 'status',
  expiry: 'expiration',
  inProgressExpiry: 'in_progress_expiration',
  data: 'data',
  validation: 'validation',
}

/** Our own attribute of a record that this version wrote: the operation it belongs to. */
export const OPERATION_MARK = 'lambdaOnceOperation'

/** What a record in the table of Powertools comes to for an operation that would run. */
export type Previous =
  /** The other version has done it: its result is the answer. */
  | { readonly kind: 'answered'; readonly value: unknown }
  /** The other version may still be doing it. */
  | { readonly kind: 'in-progress'; readonly untilMs?: number }
  /** The other version did it for another request. */
  | { readonly kind: 'mismatch' }
  /** This version holds the id, for another operation: no version of before can begin it. */
  | { readonly kind: 'occupied' }
  /** Its condition would hold now: it was deleted or has expired between the write and this look at it. */
  | { readonly kind: 'free' }
  /** It is no record of Powertools. */
  | { readonly kind: 'unreadable'; readonly why: string }

/** What is known of the request, and of the time. */
export interface Asked {
  readonly operation: string
  /** Absent: nothing is validated. */
  readonly validation?: string
  readonly nowMs: number
}

/** By how much the clocks of two machines may differ. */
export const CLOCK_SKEW_MS = 1_000

/** Decides on the record that stood against ours. */
export function decidePrevious(
  item: Readonly<Record<string, unknown>> | undefined,
  names: Names,
  { operation, validation, nowMs }: Asked,
): Previous {
  if (item === undefined) return { kind: 'free' }
  const { [names.status]: status, [names.expiry]: expiry, [names.inProgressExpiry]: untilMs } = item
  if (typeof expiry === 'number' && expiry < nowMs / 1000) return { kind: 'free' }
  const mark = item[OPERATION_MARK]
  if (mark !== undefined) return mark === operation ? { kind: 'free' } : { kind: 'occupied' }
  if (status === 'INPROGRESS') {
    if (typeof untilMs !== 'number') return { kind: 'in-progress' }
    return untilMs < nowMs - CLOCK_SKEW_MS ? { kind: 'free' } : { kind: 'in-progress', untilMs }
  }
  if (status !== 'COMPLETED') {
    return { kind: 'unreadable', why: `its "${names.status}" is ${JSON.stringify(status) ?? 'absent'}` }
  }
  // Without the option Powertools compares nothing, and answers whatever is there.
  if (validation !== undefined && item[names.validation] !== validation) return { kind: 'mismatch' }
  return { kind: 'answered', value: item[names.data] }
}
