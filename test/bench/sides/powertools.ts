import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import type { Context, SQSRecord } from 'aws-lambda'
import type { Order, Side, SideSettings } from './side.ts'

/** Powertools as its documentation says: a function made idempotent, and a batch whose record handler is one. */
export function createSide({ client, tableName, result }: SideSettings): Side {
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client })
  const once = makeIdempotent(async (_order: Order, _context: Context) => result(), {
    persistenceStore,
    config: new IdempotencyConfig({ eventKeyJmesPath: 'id' }),
  })
  const ofBatches = new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client })
  const config = new IdempotencyConfig({ eventKeyJmesPath: 'messageId' })
  const handleRecord = makeIdempotent(async (record: SQSRecord) => (JSON.parse(record.body) as Order).id && result(), {
    persistenceStore: ofBatches,
    config,
  })
  const processor = new BatchProcessor(EventType.SQS)
  return {
    once,
    batch(event, context) {
      config.registerLambdaContext(context)
      return processPartialResponse(event, handleRecord, processor, { context })
    },
  }
}
