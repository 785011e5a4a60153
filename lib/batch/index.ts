export type { Rejection } from '../core/ports.ts'
export { type BatchHandler, batchHandler } from './handler.ts'
export {
  type BatchContext,
  type BatchMiddleware,
  eachRecord,
  idempotentBatch,
  type RecordsHandler,
} from './middleware.ts'
export {
  BATCH_DEFAULTS,
  type BatchRecord,
  type CommonBatchOptions,
  type IdempotentBatchOptions,
  type ParsedBatchOptions,
  type RecordFailure,
  type RecordHandler,
  type ValidatedBatchOptions,
} from './options.ts'
export type { SchemaIssue, SchemaResult, StandardSchema } from './schema.ts'
export { KEY_ATTRIBUTE } from './sqs.ts'
export type { FailureReason } from './verdict.ts'
