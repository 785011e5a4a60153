import { randomUUID } from 'node:crypto'
import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { INDEX_NAME, INDEX_PARTITION_KEY } from '../../dynamodb/table-shape.ts'
import type { Connection } from '../connection.ts'
import { type Finding, finding } from './finding.ts'

/** No item is both there and not there: what asks for that is authorised as any other write, and never applied. */
const NEVER = 'attribute_exists(#pk) AND attribute_not_exists(#pk)'
const ExpressionAttributeNames = { '#pk': 'pk' }

interface Trial {
  readonly action: string
  /** Who needs it besides the functions themselves. */
  readonly isNeededBy: string
  readonly run: () => Promise<unknown>
}

/** Tries every action on the table, with writes that cannot apply. They are those of the credentials in use. */
export async function permissionFindings(connection: Connection, hasIndex: boolean): Promise<readonly Finding[]> {
  const findings = await Promise.all(trialsOf(connection, hasIndex).map(tryOut))
  return findings.filter((found) => found !== undefined)
}

function trialsOf({ documents, tableName: TableName }: Connection, hasIndex: boolean): readonly Trial[] {
  const Key = { pk: `doctor#${randomUUID()}`, sk: 'op' }
  const never = { TableName, ConditionExpression: NEVER, ExpressionAttributeNames }
  const byKey = { KeyConditionExpression: '#pk = :pk', ExpressionAttributeValues: { ':pk': Key.pk }, Limit: 1 }
  return [
    {
      action: 'dynamodb:GetItem',
      isNeededBy: 'everything',
      run: () => documents.send(new GetCommand({ TableName, Key })),
    },
    {
      action: 'dynamodb:PutItem',
      isNeededBy: 'claims',
      run: () => documents.send(new PutCommand({ ...never, Item: Key })),
    },
    {
      action: 'dynamodb:UpdateItem',
      isNeededBy: 'completions, and every command that writes',
      run: () => documents.send(new UpdateCommand({ ...never, Key, UpdateExpression: 'REMOVE nothing' })),
    },
    {
      action: 'a transaction of PutItem and UpdateItem',
      isNeededBy: 'commits',
      run: () =>
        documents.send(
          new TransactWriteCommand({
            TransactItems: [
              { Put: { ...never, Item: Key } },
              { Update: { ...never, Key: { ...Key, sk: 'op2' }, UpdateExpression: 'REMOVE nothing' } },
            ],
          }),
        ),
    },
    {
      action: 'dynamodb:BatchGetItem',
      isNeededBy: 'large outcomes',
      run: () => documents.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [Key] } } })),
    },
    {
      action: 'dynamodb:Query',
      isNeededBy: 'receipts and messages',
      run: () => documents.send(new QueryCommand({ TableName, ExpressionAttributeNames, ...byKey })),
    },
    ...(hasIndex
      ? [
          {
            action: `dynamodb:Query on the index "${INDEX_NAME}"`,
            isNeededBy: 'reconcilers',
            run: () =>
              documents.send(
                new QueryCommand({
                  TableName,
                  IndexName: INDEX_NAME,
                  ...byKey,
                  ExpressionAttributeNames: { '#pk': INDEX_PARTITION_KEY },
                }),
              ),
          },
        ]
      : []),
    {
      action: 'dynamodb:Scan',
      isNeededBy: '`list` and `export --all`',
      run: () => documents.send(new ScanCommand({ TableName, Limit: 1 })),
    },
  ]
}

async function tryOut({ action, isNeededBy, run }: Trial): Promise<Finding | undefined> {
  const id = `permission: ${action}`
  try {
    await run()
  } catch (error) {
    const name = error instanceof Error ? error.name : ''
    // The condition was looked at, which comes after the permission.
    if (name === 'ConditionalCheckFailedException' || name === 'TransactionCanceledException') {
      return finding(id, 'ok', `Yes; needed by ${isNeededBy}.`)
    }
    return /AccessDenied/.test(name)
      ? finding(id, 'warning', `Your credentials lack it; needed by ${isNeededBy}.`)
      : finding(id, 'skipped', `It could not be tried: ${name || String(error)}.`)
  }
  return finding(id, 'ok', `Yes; needed by ${isNeededBy}.`)
}
