import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { InvalidInputError, StoreError } from '../base/errors.ts'
import { type Cancellation, type Participant, readCancellation } from '../commit/cancellation.ts'
import { type CheckedWrite, checkCommit } from '../commit/check.ts'
import { frozenUpdate, marshalledMember, refuseTooLarge } from '../commit/marshalled.ts'
import type { CommitWrite } from '../order/commit-write.ts'
import { versionTypeError } from '../order/errors.ts'
import { guarded } from '../order/if-newer.ts'
import type { OperationRecord } from '../record/record.ts'
import type { BesideItem, CommitAnswer, Preparation, RecordChange, StandingCondition } from '../record/store.ts'
import { toBesideItem } from './items.ts'
import { recordUpdate } from './record-update.ts'
import { isCancelled, TRANSACTION, toStoreError } from './store-errors.ts'

/** Further transactions that one commit may take. Stale writes usually show all at once. */
const MAX_ROUNDS = 20

/** A table, and what needs the SDK: this part is loaded late, and a bundle keeps all of the SDK that such a part imports. */
export interface Transactions {
  readonly tableName: string
  /** Writes everything or nothing; what fails is the SDK's own error. */
  readonly transact: (members: TransactWriteItem[], requestToken: string) => Promise<unknown>
  /** The record that stood against a commit: what the answer brought of it, or what lies there. */
  readonly existing: (id: string, item: unknown) => Promise<OperationRecord | undefined>
}

/** A write as it is sent in the next transaction. */
interface Sent extends Participant {
  readonly member: TransactWriteItem
}

/** What one commit sends; a further transaction is another request, with a token of its own. */
interface Round {
  /** The token that the caller gave. */
  readonly of: string
  readonly token: string
  readonly sent: readonly Sent[]
}

/**
 * Checks and marshals the writes of a commit at once, so that every try sends the same, whatever happens to the
 * caller's objects meanwhile.
 *
 * @throws InvalidInputError naming the write
 */
export function preparation(
  { tableName, transact, existing }: Transactions,
  id: string,
  writes: readonly CommitWrite[],
  beside: readonly BesideItem[],
): Preparation {
  const checked = checkCommit({ id, tableName }, writes, beside).map(frozen)
  const sent = checked.map(sentWrite)
  const placed = beside.map((item) => {
    const label = `the item "${item.sk}" beside the record`
    return { label, member: marshalledMember(label, { Put: { TableName: tableName, Item: toBesideItem(id, item) } }) }
  })
  const besideMembers = placed.map(({ member }) => member)
  refuseTooLarge([...sent.map(({ index, member }) => ({ label: `writes[${index}]`, member })), ...placed])
  /** Kept over the tries of one commit: repeating the transaction that was left open repeats its answer, too. */
  let open: Round | undefined

  async function commit(
    change: RecordChange,
    condition: StandingCondition,
    requestToken: string,
  ): Promise<CommitAnswer> {
    const own = { TableName: tableName, ...recordUpdate(id, change, condition) }
    const first: TransactWriteItem = { Update: { ...own, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } }
    if (open?.of !== requestToken) open = { of: requestToken, token: requestToken, sent }
    for (let rounds = 0; rounds <= MAX_ROUNDS; rounds++) {
      const round: Round = open
      const cancellation = await send([first, ...round.sent.map(({ member }) => member), ...besideMembers], round)
      if (cancellation === undefined) {
        const kept = round.sent.map(({ index }) => index)
        return { kind: 'applied', skipped: sent.map(({ index }) => index).filter((index) => !kept.includes(index)) }
      }
      if (cancellation.kind === 'refused') {
        return { kind: 'refused', existing: await existing(id, cancellation.item) }
      }
      if (cancellation.kind === 'conflict') return cancellation
      if (cancellation.kind !== 'again') throw errorOf(cancellation)
      open = nextRound(round, cancellation)
    }
    throw new StoreError('The items of the commit changed again and again while it was tried. Nothing was written.', {
      retryable: true,
    })
  }

  /** `undefined` when it was written. */
  async function send(members: TransactWriteItem[], { token, sent }: Round): Promise<Cancellation | undefined> {
    try {
      await transact(members, token)
      return undefined
    } catch (error) {
      if (isCancelled(error)) return readCancellation(error.CancellationReasons ?? [], sent)
      throw refusalOf(error, members)
    }
  }

  function nextRound({ of, sent }: Round, { stale, over }: Cancellation & { readonly kind: 'again' }): Round {
    const next = sent
      .filter(({ index }) => !stale.includes(index))
      .map((write) => (over.has(write.index) ? meantFor(write, over.get(write.index)) : write))
    // Another set of writes under the same token would be refused, or answered from the one before.
    return { of, token: crypto.randomUUID(), sent: next }
  }

  return { commit }
}

/** An update may have to be built again, for a tombstone: from what the caller gave now, not from what becomes of it. */
function frozen({ member, guarding }: CheckedWrite, index: number): CheckedWrite {
  if (guarding === undefined || !('Update' in guarding.write)) return { member, guarding }
  const write = { Update: frozenUpdate(`writes[${index}]`, guarding.write.Update) }
  return { member, guarding: { ...guarding, write } }
}

function sentWrite({ member, guarding }: CheckedWrite, index: number): Sent {
  return { index, guarding, over: undefined, member: marshalledMember(`writes[${index}]`, member) }
}

function meantFor(write: Sent, over: Participant['over']): Sent {
  const { index, guarding } = write
  if (guarding === undefined) return write
  return { ...write, over, member: marshalledMember(`writes[${index}]`, guarded(guarding.write, guarding.guard, over)) }
}

function errorOf(cancellation: Exclude<Cancellation, { readonly kind: 'refused' | 'conflict' | 'again' }>): Error {
  switch (cancellation.kind) {
    case 'other-type':
      return versionTypeError(cancellation.guarding.guard, cancellation.stored)
    case 'invalid': {
      const { index, message } = cancellation
      return new InvalidInputError(`${index === undefined ? 'The commit' : `writes[${index}]`} was refused: ${message}`)
    }
    case 'passing':
    case 'failed':
      return new StoreError(
        `DynamoDB cancelled the transaction: ${cancellation.codes.join(', ') || 'no reason given'}. Nothing was written.`,
        {
          retryable: cancellation.kind === 'passing',
        },
      )
  }
}

/** A transaction that was refused as a whole, or one of which nobody knows whether it was written. */
function refusalOf(error: unknown, members: readonly TransactWriteItem[]): Error {
  // What could not be known beforehand: two puts on one item, an expression that does not parse, a key of a wrong type.
  if (error instanceof Error && error.name === 'ValidationException') {
    return new InvalidInputError(`DynamoDB refused the writes of the commit, and wrote nothing: ${error.message}`)
  }
  const tables = members.map(({ Put, Update, Delete, ConditionCheck }) => {
    return (Put ?? Update ?? Delete ?? ConditionCheck)?.TableName ?? '?'
  })
  return toStoreError(error, TRANSACTION, ...new Set(tables))
}
