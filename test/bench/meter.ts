import {
  type AttributeValue,
  type BatchExecuteStatementCommandInput,
  type BatchExecuteStatementCommandOutput,
  type ConsumedCapacity,
  DynamoDBClient,
  GetItemCommand,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb'
import { itemSize } from '../../lib/commit/item-size.ts'
import { INDEX_SORT_KEY } from '../../lib/dynamodb/table-shape.ts'

const UNIT_BYTES = 1024
/** Of an eventually consistent read. */
const LEAST_READ = 0.5

/** What one request has consumed. */
export interface RequestUnits {
  readonly action: string
  /** Write units of all tables and indexes together. */
  readonly writeUnits: number
  /** Those of the index `due` alone. */
  readonly indexUnits: number
  readonly readUnits: number
}

interface Write {
  readonly tableName: string | undefined
  readonly key: Record<string, AttributeValue>
  readonly isIndexed: boolean
}

/**
 * Reports what each request of a client consumes. Ordinary reads and writes are as the engine says itself. It says
 * nothing of a failed condition, a flat figure of a transaction and nothing of batches of statements: these are counted
 * by DynamoDB's rules over the sizes that the items really have.
 *
 * @returns ends the reporting
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */
export function meter(client: DynamoDBClient, endpoint: string, report: (request: RequestUnits) => void): () => void {
  // Reads of its own are not to be counted.
  const reader = new DynamoDBClient({ endpoint })
  const sizes = (writes: readonly Write[]) => Promise.all(writes.map((write) => sizeOf(reader, write)))

  async function byRule<T extends { output: object }>(
    action: string,
    writes: readonly Write[],
    factor: number,
    send: () => Promise<T>,
  ): Promise<T> {
    const before = await sizes(writes)
    const answer = await send()
    const after = await sizes(writes)
    const units = before.map((size, index) => factor * unitsOf(Math.max(size, after[index] ?? 0)))
    // A statement that was refused has written nothing, to no index either.
    const { Responses = [] } = answer.output as BatchExecuteStatementCommandOutput
    const indexUnits = writes.filter(({ isIndexed }, index) => isIndexed && !Responses[index]?.Error).length
    report({ action, writeUnits: total(units) + indexUnits, indexUnits, readUnits: 0 })
    return answer
  }

  client.middlewareStack.add(
    (next, { commandName = '?' }) =>
      async (args) => {
        const action = commandName.replace('Command', '')
        const send = () => next(args)
        if (action === 'TransactWriteItems') return byRule(action, transactWrites(args.input), 2, send)
        if (action === 'BatchExecuteStatement') return byRule(action, statementWrites(args.input), 1, send)
        try {
          const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'INDEXES' } })
          report({ action, ...reported(action, answer.output as Reported) })
          return answer
        } catch (error) {
          const { Item } = error as { Item?: Record<string, AttributeValue> }
          report({ action, writeUnits: unitsOf(Item ? itemSize(Item) : 0), indexUnits: 0, readUnits: 0 })
          throw error
        }
      },
    { step: 'initialize', priority: 'low', name: 'meter' },
  )
  return () => {
    client.middlewareStack.remove('meter')
    reader.destroy()
  }
}

/** What of an answer is looked at. */
type Reported = { readonly ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[] }

function reported(action: string, { ConsumedCapacity: consumed = [] }: Reported): Omit<RequestUnits, 'action'> {
  const capacities = [consumed].flat() as readonly ConsumedCapacity[]
  const units = total(capacities.map(({ CapacityUnits = 0 }) => CapacityUnits))
  const indexes = capacities.flatMap(({ GlobalSecondaryIndexes = {} }) => Object.values(GlobalSecondaryIndexes))
  const indexUnits = total(indexes.map(({ CapacityUnits = 0 }) => CapacityUnits))
  if (!/^(Get|BatchGet|Query|Scan)/.test(action)) return { writeUnits: units, indexUnits, readUnits: 0 }
  // The engine counts nothing where nothing was found; the service counts the least that a read can cost.
  return { writeUnits: 0, indexUnits: 0, readUnits: Math.max(LEAST_READ, units) }
}

function transactWrites(input: object): Write[] {
  const { TransactItems = [] } = input as TransactWriteItemsCommandInput
  return TransactItems.map(({ Put, Update, Delete, ConditionCheck }) => {
    const { TableName: tableName } = Put ?? Update ?? Delete ?? ConditionCheck ?? {}
    if (Put?.Item) return { tableName, key: Put.Item, isIndexed: INDEX_SORT_KEY in Put.Item }
    const { Key = {}, ExpressionAttributeNames = {} } = Update ?? Delete ?? ConditionCheck ?? {}
    const isIndexed = Object.values(ExpressionAttributeNames).includes(INDEX_SORT_KEY)
    return { tableName, key: Key, isIndexed }
  })
}

/** Each parameter of a statement stands behind the name of its attribute. */
function statementWrites(input: object): Write[] {
  const { Statements = [] } = input as BatchExecuteStatementCommandInput
  return Statements.map(({ Statement = '', Parameters = [] }) => {
    const names = [...Statement.matchAll(/['"](\w+)['"](?::| =) \?/g)].map(([, name = '']) => name)
    const key = Object.fromEntries(names.map((name, index) => [name, Parameters[index] as AttributeValue]))
    const tableName = /(?:INTO|UPDATE) "([^"]+)"/.exec(Statement)?.[1]
    return { tableName, key, isIndexed: Statement.includes(INDEX_SORT_KEY) }
  })
}

const KEY_NAMES = ['pk', 'sk', 'id']

async function sizeOf(reader: DynamoDBClient, { tableName, key }: Write): Promise<number> {
  const Key = Object.fromEntries(Object.entries(key).filter(([name]) => KEY_NAMES.includes(name)))
  const { Item } = await reader.send(new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }))
  return Item ? itemSize(Item) : 0
}

function unitsOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / UNIT_BYTES))
}

function total(units: readonly number[]): number {
  return units.reduce((sum, each) => sum + each, 0)
}
