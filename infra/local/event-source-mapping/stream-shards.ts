import {
  type _Record,
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type Shard,
  type ShardIteratorType,
} from '@aws-sdk/client-dynamodb-streams'

// The API's own limit.
const READ_LIMIT = 1000

/** The shards whose turn it is: not begun yet, and their parents read to the end (or no longer kept). */
export function dueShards(
  shards: readonly Shard[],
  begun: ReadonlySet<string>,
  finished: ReadonlySet<string>,
): readonly string[] {
  const listed = new Set(shards.map(({ ShardId }) => ShardId))
  return shards.flatMap(({ ShardId, ParentShardId }) => {
    if (ShardId === undefined || begun.has(ShardId)) return []
    const waits = ParentShardId !== undefined && listed.has(ParentShardId) && !finished.has(ParentShardId)
    return waits ? [] : [ShardId]
  })
}

/** Whether a shard takes no more records. */
export function isClosed({ SequenceNumberRange }: Shard): boolean {
  return SequenceNumberRange?.EndingSequenceNumber !== undefined
}

/** The engine's own name for the stream of a table. @throws Error when the table has none. */
export async function engineStreamArn(client: DynamoDBStreamsClient, TableName: string): Promise<string> {
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName }))
  const arn = Streams.at(-1)?.StreamArn
  if (arn === undefined) throw new Error(`table ${TableName} has no stream`)
  return arn
}

/** All shards of a stream. */
export async function listShards(client: DynamoDBStreamsClient, StreamArn: string): Promise<Shard[]> {
  const shards: Shard[] = []
  let ExclusiveStartShardId: string | undefined
  do {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId }))
    shards.push(...(StreamDescription?.Shards ?? []))
    ExclusiveStartShardId = StreamDescription?.LastEvaluatedShardId
  } while (ExclusiveStartShardId !== undefined)
  return shards
}

/** Reads a shard from its position on. */
export interface ShardReader {
  readonly shardId: string
  /** The next records, none when there are none yet, undefined at the end of the shard. */
  read(limit: number): Promise<readonly _Record[] | undefined>
}

/** Opens a shard; what is written after that is read, wherever it starts. */
export async function openShard(
  client: DynamoDBStreamsClient,
  StreamArn: string,
  ShardId: string,
  start: 'TRIM_HORIZON' | 'LATEST',
): Promise<ShardReader> {
  const iteratorAt = async (type: ShardIteratorType, SequenceNumber?: string): Promise<string | undefined> => {
    const command = new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: type, SequenceNumber })
    return (await client.send(command)).ShardIterator
  }
  let iterator = await iteratorAt(start)
  let lastRead: string | undefined
  return Object.freeze({
    shardId: ShardId,
    read: async (limit: number) => {
      if (iterator === undefined) return undefined
      try {
        const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: Math.min(READ_LIMIT, limit) })
        const { Records = [], NextShardIterator } = await client.send(command)
        iterator = NextShardIterator
        lastRead = Records.at(-1)?.dynamodb?.SequenceNumber ?? lastRead
        return Records
      } catch (error) {
        // An iterator lives for 15 minutes, and a batch may be retried for longer.
        if (!(error instanceof ExpiredIteratorException)) throw error
        iterator = await (lastRead === undefined ? iteratorAt(start) : iteratorAt('AFTER_SEQUENCE_NUMBER', lastRead))
        return []
      }
    },
  })
}
