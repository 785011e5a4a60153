export type { Rejection } from '../base/ports.ts'
export type { SchemaIssue, SchemaResult, StandardSchema } from '../base/schema.ts'
export type { Content, Envelope, Opened } from '../sources/content.ts'
export { eventBridgeEvent } from '../sources/eventbridge.ts'
export { KEY_ATTRIBUTE } from '../sources/key-attribute.ts'
export { s3Notification } from '../sources/s3.ts'
export { snsNotification } from '../sources/sns.ts'
export type { UnwrapOptions } from '../sources/unwrap.ts'
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
  type SourcedBatchOptions,
  type ValidatedBatchOptions,
} from './options.ts'
export {
  type DynamoStreamOptions,
  dynamoStream,
  type ItemChange,
  isTtlRemoval,
  type StreamRecord,
} from './sources/dynamo-stream.ts'
export { kafka, type TopicRecord } from './sources/kafka.ts'
export { kinesis } from './sources/kinesis.ts'
export type { BatchAnswer, EventOf, Identifier, RedriveOption, Source, TopicPosition } from './sources/source.ts'
export { sqs } from './sources/sqs.ts'
export type { FailureReason } from './verdict.ts'
