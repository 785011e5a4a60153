import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import {
  type IdempotentBatchOptions,
  type ParsedBatchOptions,
  type RecordHandler,
  recordHandler,
  resolveBatchOptions,
  type ValidatedBatchOptions,
} from './options.ts'
import { runBatch } from './run.ts'

/**
 * A Lambda handler for an SQS queue, without Middy; otherwise the same as `idempotentBatch` with `eachRecord`.
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
export function batchHandler<B>(options: ValidatedBatchOptions<B>, handle: RecordHandler<B>): BatchHandler
export function batchHandler<B = unknown>(options: ParsedBatchOptions<B>, handle: RecordHandler<B>): BatchHandler
export function batchHandler<B>(options: IdempotentBatchOptions<B>, handle: RecordHandler<B>): BatchHandler {
  const settings = resolveBatchOptions('batchHandler', options)
  const eachOf = recordHandler('batchHandler(options, handle)', handle)
  return async (event, context) => runBatch(settings, settings.source.records(event), context, eachOf)
}

/** What Lambda calls. */
export type BatchHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>
