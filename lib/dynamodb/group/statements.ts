import type { AttributeValue, BatchStatementRequest } from '@aws-sdk/client-dynamodb'
import { attributesOf } from '../attributes.ts'
import { recordKey, toItem } from '../items.ts'
import type { GroupedWrite } from './writes.ts'

/**
 * A write as a statement. What it leaves in the table is what a put or an update of the record leaves there: the same
 * attributes, made by the same code.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
 */
export function statementFor(tableName: string, write: GroupedWrite): BatchStatementRequest {
  const { text, parameters } = write.kind === 'insert' ? insertion(tableName, write) : change(tableName, write)
  return { Statement: text, Parameters: parameters, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }
}

interface Statement {
  readonly text: string
  readonly parameters: AttributeValue[]
}

/** Conditional by nature: it is refused where an item has the key already. */
function insertion(tableName: string, { record }: Extract<GroupedWrite, { kind: 'insert' }>): Statement {
  const item = attributesOf(toItem(record))
  const fields = Object.keys(item).map((name) => `'${name}': ?`)
  return { text: `INSERT INTO "${tableName}" VALUE {${fields.join(', ')}}`, parameters: Object.values(item) }
}

/** Never creates an item: that is refused as a failed condition. */
function change(tableName: string, { id, change, seen }: Extract<GroupedWrite, { kind: 'update' }>): Statement {
  const { token, rev } = seen
  const set = attributesOf({ ...change, rev: rev + 1 })
  const removed = Object.keys(change).filter((name) => !(name in set))
  const where = attributesOf({ ...recordKey(id), token, rev })
  // Names are quoted, since status, token and others are reserved words.
  const text = [
    `UPDATE "${tableName}"`,
    ...Object.keys(set).map((name) => `SET "${name}" = ?`),
    ...removed.map((name) => `REMOVE "${name}"`),
    `WHERE ${Object.keys(where)
      .map((name) => `"${name}" = ?`)
      .join(' AND ')}`,
  ].join(' ')
  return { text, parameters: [...Object.values(set), ...Object.values(where)] }
}
