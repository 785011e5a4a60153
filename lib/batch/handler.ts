import type { Context, SQSRecord } from 'aws-lambda'
import type {
  IdempotentBatchOptions,
  ParsedBatchOptions,
  RecordHandler,
  SourcedBatchOptions,
  ValidatedBatchOptions,
} from './options.ts'
import { runBatch } from './run.ts'
import { recordHandler, resolveBatchOptions } from './settings.ts'
import type { BatchAnswer, EventOf } from './sources/source.ts'

/**
 * A Lambda handler for a queue or a stream, without Middy; otherwise the same as `idempotentBatch` with `eachRecord`.
 *
 * @example
 * export const handler = batchHandler(
 *   { idempotency, schema: Payment, key: (record) => record.body.orderId },
 *   async (record, operation) => {
 *     await charge(record.body, operation.key)
 *   },
 * )
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function batchHandler<B, R = SQSRecord>(
  options: ValidatedBatchOptions<B, R>,
  handle: RecordHandler<B, R>,
): BatchHandler<R>
export function batchHandler<B, R>(options: SourcedBatchOptions<B, R>, handle: RecordHandler<B, R>): BatchHandler<R>
export function batchHandler<B = unknown, R = SQSRecord>(
  options: ParsedBatchOptions<B, R>,
  handle: RecordHandler<B, R>,
): BatchHandler<R>
export function batchHandler<B, R>(
  options: IdempotentBatchOptions<B, R>,
  handle: RecordHandler<B, R>,
): BatchHandler<R> {
  const settings = resolveBatchOptions('batchHandler', options)
  const eachOf = recordHandler('batchHandler(options, handle)', handle)
  return async (event, context) => runBatch(settings, settings.source.records(event), context, eachOf)
}

/** What Lambda calls. */
export type BatchHandler<R = SQSRecord> = (event: EventOf<R>, context: Context) => Promise<BatchAnswer<R>>
