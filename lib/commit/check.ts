import { InvalidInputError, InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import type { CommitWrite, TransactWrite } from '../order/commit-write.ts'
import { type ResolvedGuard, resolveGuard } from '../order/guard.ts'
import { guarded } from '../order/if-newer.ts'
import { checkWrite, type Write } from '../order/write.ts'
import type { BesideItem } from '../record/store.ts'
import { refuseCollisions, type Target } from './collisions.ts'

/** How one write of a commit is guarded. */
export interface Guarding {
  readonly write: Write
  readonly guard: ResolvedGuard
  readonly onStale: 'skip' | 'fail'
}

/** A write of the caller's that was found to be one. */
export interface CheckedWrite {
  /** As it goes into the transaction, with the condition of its guard. */
  readonly member: TransactWrite
  readonly guarding: Guarding | undefined
}

/** The record that is completed together with the writes. */
export interface CommitOwner {
  readonly id: string
  /** Absent: the record lies in no table. */
  readonly tableName?: string
}

/**
 * Actions in one transaction.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export const MAX_TRANSACTION_ITEMS = 100

const KINDS = ['Put', 'Update', 'Delete', 'ConditionCheck'] as const

/**
 * Checks what can be known of a commit without marshalling it: the shape of each write, how many there are, and that
 * no two of them are on one item.
 *
 * @throws InvalidInputError naming the write
 */
export function checkCommit(
  owner: CommitOwner,
  writes: readonly CommitWrite[],
  beside: readonly BesideItem[],
): readonly CheckedWrite[] {
  if (!Array.isArray(writes)) throw new InvalidInputError(`writes must be an array; got ${show(writes)}.`)
  const count = writes.length + beside.length + 1
  if (count > MAX_TRANSACTION_ITEMS) {
    throw new InvalidInputError(
      `A commit is one transaction of at most ${MAX_TRANSACTION_ITEMS} items; these are ${count}: ${writes.length} writes, ${beside.length} messages and receipts, and the operation's record.`,
    )
  }
  const checked = writes.map((write, index) => checkedWrite(`writes[${index}]`, write))
  refuseCollisions(
    owner,
    checked.map(({ member }, index) => targetOf(`writes[${index}]`, member)),
    beside,
  )
  return checked
}

function checkedWrite(label: string, write: CommitWrite): CheckedWrite {
  const names = fieldsOf(write)
  if (names.includes('write') || names.includes('ifNewer')) return guardedWrite(label, write, names)
  const [kind] = names
  if (names.length !== 1 || !KINDS.some((known) => known === kind)) {
    throw new InvalidInputError(
      `${label} must be exactly one of { Put }, { Update }, { Delete } or { ConditionCheck }, or { write, ifNewer, onStale }; got ${names.length > 0 ? `{ ${names.join(', ')} }` : show(write)}.`,
    )
  }
  const member = write as TransactWrite
  targetOf(label, member)
  return { member, guarding: undefined }
}

function guardedWrite(label: string, given: CommitWrite, names: readonly string[]): CheckedWrite {
  const unknown = names.find((name) => !['write', 'ifNewer', 'onStale'].includes(name))
  if (unknown !== undefined || !('write' in given) || !('ifNewer' in given)) {
    throw new InvalidInputError(`${label} must be { write, ifNewer, onStale }; got { ${names.join(', ')} }.`)
  }
  const { write, onStale = 'skip' } = given
  if (onStale !== 'skip' && onStale !== 'fail') {
    throw new InvalidInputError(`${label}.onStale must be "skip" or "fail"; got ${show(onStale)}.`)
  }
  try {
    checkWrite(write)
    targetOf(label, write)
    const guard = resolveGuard(given.ifNewer)
    return { member: guarded(write, guard, undefined), guarding: { write, guard, onStale } }
  } catch (error) {
    if (error instanceof InvalidOptionError) throw new InvalidInputError(`${label}: ${error.message}`)
    throw error
  }
}

/** What the write is on: the item that it puts, or the key that it names. */
function targetOf(label: string, write: TransactWrite): Target {
  const kind = KINDS.find((known) => write[known] !== undefined)
  const content: unknown = kind && write[kind]
  const part = kind === 'Put' ? 'Item' : 'Key'
  const tableName: unknown = typeof content === 'object' && content !== null && Reflect.get(content, 'TableName')
  const attributes: unknown = typeof content === 'object' && content !== null && Reflect.get(content, part)
  if (typeof tableName !== 'string' || tableName === '') {
    throw new InvalidInputError(
      `${label}.${kind}.TableName must be the name or ARN of a table; got ${show(tableName)}.`,
    )
  }
  if (typeof attributes !== 'object' || attributes === null || Object.keys(attributes).length === 0) {
    throw new InvalidInputError(`${label}.${kind}.${part} must be an object of attributes; got ${show(attributes)}.`)
  }
  return { label, tableName, isWhole: kind === 'Put', attributes: attributes as Record<string, unknown> }
}

/** The fields that are set: lib-dynamodb's types allow for `Put: undefined` beside the one that is meant. */
function fieldsOf(write: unknown): readonly string[] {
  if (typeof write !== 'object' || write === null) return []
  return Object.entries(write).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}
