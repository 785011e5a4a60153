import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { BatchGetCommand, DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import pLimit from 'p-limit'
import { InvalidOptionError, StoreError } from '../core/errors.ts'
import { refuseUnknown, show } from '../core/guards.ts'
import type { Condition, Parts, RecordChange, StandingCondition, Store, WriteAnswer } from '../core/ports.ts'
import type { OperationRecord } from '../core/record.ts'
import { aliases, conditionExpression } from './conditions.ts'
import { partKey, recordKey, toItem, toRecord } from './items.ts'
import { isConditionFailed, toStoreError } from './store-errors.ts'

/** Options of {@link dynamoStore}. */
export interface DynamoStoreOptions {
  /** The table: partition key `pk` and sort key `sk`, both strings; TTL on `expiresAt`. */
  readonly tableName: string
  /**
   * The client to use. Give one to share connections, or to set a region or an endpoint.
   * @defaultValue a client of its own, made at the first call: 3 tries a call, 1 s to connect, 3 s to answer
   */
  readonly client?: DynamoDBClient
}

const CONNECTION_TIMEOUT_MS = 1_000
const REQUEST_TIMEOUT_MS = 3_000
const MAX_ATTEMPTS = 3
/** Pieces written at once: enough to fill a connection pool's start, few enough for a small function's memory. */
const PARALLEL_PARTS = 8
/** How often a batch read is asked for the pieces it left out before it counts as failed. */
const MAX_READ_ROUNDS = 8

/**
 * Keeps records in a DynamoDB table. Stateless: one store serves any number of middlewares.
 *
 * @example
 * const store = dynamoStore({ tableName: process.env.IDEMPOTENCY_TABLE ?? '' })
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function dynamoStore(options: DynamoStoreOptions): Store {
  refuseUnknown('dynamoStore', options, ['tableName', 'client'])
  const { tableName, client } = options
  if (typeof tableName !== 'string' || tableName.trim() === '') {
    throw new InvalidOptionError(
      `tableName must be the name or ARN of a DynamoDB table; got ${show(tableName)}. Is the environment variable set?`,
    )
  }
  if (client !== undefined && typeof client.send !== 'function') {
    throw new InvalidOptionError(`client must be a DynamoDBClient; got ${show(client)}.`)
  }

  let documents: DynamoDBDocumentClient | undefined
  /** Marshalling is the store's own, whatever the options of a document client that was given. */
  const connection = () => {
    documents ??= DynamoDBDocumentClient.from(client ?? defaultClient(), {
      marshallOptions: { removeUndefinedValues: true },
    })
    return documents
  }

  async function call<T>(action: string, send: () => Promise<T>): Promise<T> {
    try {
      return await send()
    } catch (error) {
      throw isConditionFailed(error) ? error : toStoreError(error, action, tableName)
    }
  }

  async function get(id: string): Promise<OperationRecord | undefined> {
    const command = new GetCommand({ TableName: tableName, Key: recordKey(id), ConsistentRead: true })
    const { Item } = await call('GetItem', () => connection().send(command))
    return Item && toRecord(Item)
  }

  async function conditional(id: string, action: string, send: () => Promise<unknown>): Promise<WriteAnswer> {
    try {
      await call(action, send)
      return { applied: true }
    } catch (error) {
      if (!isConditionFailed(error)) throw error
      // Old clients and some emulators leave the item out.
      return { applied: false, existing: error.Item === undefined ? await get(id) : toRecord(plain(error.Item)) }
    }
  }

  return Object.freeze({
    get,

    put(record: OperationRecord, condition: Condition) {
      const { expression, names, values } = conditionExpression(condition)
      const command = new PutCommand({
        TableName: tableName,
        Item: toItem(record),
        ConditionExpression: expression,
        ExpressionAttributeNames: aliases(names),
        ExpressionAttributeValues: values,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      return conditional(record.id, 'PutItem', () => connection().send(command))
    },

    update(id: string, { step, ...change }: RecordChange, condition: StandingCondition) {
      const { expression, names, values } = conditionExpression(condition)
      const fields = Object.entries(change)
      const set = fields.filter(([, value]) => value !== undefined)
      const removed = fields.filter(([, value]) => value === undefined)
      const stepPath = '#steps.#step'
      const command = new UpdateCommand({
        TableName: tableName,
        Key: recordKey(id),
        UpdateExpression: [
          clause('SET', [
            ...set.map(([name]) => `#${name} = :${name}`),
            ...(step?.record ? [`${stepPath} = :step`] : []),
          ]),
          clause('REMOVE', [...removed.map(([name]) => `#${name}`), ...(step && !step.record ? [stepPath] : [])]),
          'ADD #rev :one',
        ].join(' '),
        ConditionExpression: expression,
        ExpressionAttributeNames: {
          ...aliases([...fields.map(([name]) => name), ...names, 'rev']),
          ...(step && { '#steps': 'steps', '#step': step.name }),
        },
        ExpressionAttributeValues: {
          ...values,
          ...Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
          ...(step?.record && { ':step': step.record }),
          ':one': 1,
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      return conditional(id, 'UpdateItem', () => connection().send(command))
    },

    async putParts({ partsId, parts, expiresAt }: Parts) {
      const limit = pLimit(PARALLEL_PARTS)
      await limit.map(parts, (bytes, index) => {
        const Item = { ...partKey(partsId, index), bytes, expiresAt }
        return call('PutItem', () => connection().send(new PutCommand({ TableName: tableName, Item })))
      })
    },

    async getParts(partsId: string, count: number) {
      const found = new Map<string, Uint8Array>()
      let keys: Record<string, unknown>[] = Array.from({ length: count }, (_, index) => partKey(partsId, index))
      // A batch read answers at most 16 MB and names what it left out.
      for (let round = 0; keys.length > 0; round++) {
        if (round === MAX_READ_ROUNDS) {
          throw new StoreError(`DynamoDB left ${keys.length} of ${count} parts unread.`, { retryable: true })
        }
        const RequestItems = { [tableName]: { Keys: keys, ConsistentRead: true } }
        const answer = await call('BatchGetItem', () => connection().send(new BatchGetCommand({ RequestItems })))
        for (const item of answer.Responses?.[tableName] ?? []) {
          if (item.bytes instanceof Uint8Array) found.set(String(item.pk), item.bytes)
        }
        keys = answer.UnprocessedKeys?.[tableName]?.Keys ?? []
      }
      return Array.from({ length: count }, (_, index) => found.get(partKey(partsId, index).pk))
    },
  })
}

function clause(keyword: string, terms: readonly string[]): string {
  return terms.length > 0 ? `${keyword} ${terms.join(', ')}` : ''
}

function defaultClient(): DynamoDBClient {
  return new DynamoDBClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  })
}

/** The item of a failed condition comes back marshalled, through the document client too. */
function plain(item: unknown): Record<string, unknown> {
  return unmarshall(item as Parameters<typeof unmarshall>[0])
}
