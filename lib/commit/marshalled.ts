import type { AttributeValue, TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { InvalidInputError } from '../base/errors.ts'
import type { TransactWrite } from '../order/commit-write.ts'
import type { UpdateMember } from '../order/write.ts'
import { itemSize, MAX_ITEM_BYTES, MAX_TRANSACTION_BYTES } from './item-size.ts'

/** `undefined` is left out. Class instances are refused: as a map a `Date` would be stored as nothing. */
export const MARSHALLING: Readonly<{ removeUndefinedValues: true }> = Object.freeze({ removeUndefinedValues: true })

type Attributes = Record<string, AttributeValue>
type Plain = Readonly<Record<string, unknown>>

/** Left for the update of the record itself, in bytes. */
const RECORD_RESERVE_BYTES = 4_096

/**
 * A write of a transaction as it is sent; nothing that happens to the given one afterwards changes it. A failed
 * condition brings the item that stood against it.
 *
 * @throws InvalidInputError when a value cannot be stored
 */
export function marshalledMember(
  label: string,
  { Put, Update, Delete, ConditionCheck }: TransactWrite,
): TransactWriteItem {
  const values = (given: { ExpressionAttributeValues?: Plain | undefined }) => ({
    ...(given.ExpressionAttributeValues && {
      ExpressionAttributeValues: attributes(label, given.ExpressionAttributeValues),
    }),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  })
  const names = (given: { ExpressionAttributeNames?: Record<string, string> | undefined }) =>
    given.ExpressionAttributeNames && { ExpressionAttributeNames: { ...given.ExpressionAttributeNames } }
  if (Put) return { Put: { ...Put, ...names(Put), ...values(Put), Item: attributes(label, Put.Item) } }
  if (Update) return { Update: { ...Update, ...names(Update), ...values(Update), Key: attributes(label, Update.Key) } }
  if (Delete) return { Delete: { ...Delete, ...names(Delete), ...values(Delete), Key: attributes(label, Delete.Key) } }
  if (ConditionCheck) {
    const check = { ...ConditionCheck, ...names(ConditionCheck), ...values(ConditionCheck) }
    return { ConditionCheck: { ...check, Key: attributes(label, ConditionCheck.Key) } }
  }
  throw new InvalidInputError(`${label} is no write.`)
}

/** A copy of an update that shares nothing with it, and loses no digit of its numbers. */
export function frozenUpdate(label: string, update: UpdateMember): UpdateMember {
  const copy = (given: Plain) => unmarshall(attributes(label, given), { wrapNumbers: true })
  const { Key, ExpressionAttributeNames: names, ExpressionAttributeValues: values } = update
  return {
    ...update,
    Key: copy(Key ?? {}),
    ...(names && { ExpressionAttributeNames: { ...names } }),
    ...(values && { ExpressionAttributeValues: copy(values) }),
  }
}

/**
 * Refuses what DynamoDB would refuse for its size. What an update adds to an item that is there, only DynamoDB knows.
 *
 * @throws InvalidInputError naming the item
 */
export function refuseTooLarge(
  members: readonly { readonly label: string; readonly member: TransactWriteItem }[],
): void {
  let total = RECORD_RESERVE_BYTES
  for (const { label, member } of members) {
    const item = member.Put?.Item
    const bytes = item ? itemSize(item) : sizeSent(member)
    if (item && bytes > MAX_ITEM_BYTES) {
      throw new InvalidInputError(`${label} puts an item of ${bytes} bytes; DynamoDB takes at most ${MAX_ITEM_BYTES}.`)
    }
    total += bytes
  }
  if (total > MAX_TRANSACTION_BYTES) {
    throw new InvalidInputError(
      `The items of a commit have ${total} bytes together, the operation's record included; a transaction takes at most ${MAX_TRANSACTION_BYTES}.`,
    )
  }
}

function sizeSent({ Update, Delete, ConditionCheck }: TransactWriteItem): number {
  const { Key = {}, ExpressionAttributeValues = {} } = Update ?? Delete ?? ConditionCheck ?? {}
  return (
    itemSize(Key) + Object.values(ExpressionAttributeValues).reduce((sum, value) => sum + itemSize({ '': value }), 0)
  )
}

function attributes(label: string, values: Plain | undefined): Attributes {
  try {
    return marshall({ ...values }, MARSHALLING)
  } catch (error) {
    // The advice at the end of these messages is about options that nobody can set here.
    const why =
      error instanceof Error ? error.message.replace(/\.? *Pass (?:a non-empty set, or )?options\..*$/s, '') : ''
    throw new InvalidInputError(`${label} holds a value that DynamoDB cannot store: ${why || 'an empty set'}.`)
  }
}
