import type { Context, SQSRecord } from 'aws-lambda'
import type { StandardSchema } from '../base/schema.ts'
import type { Idempotency } from '../idempotency/api.ts'
import type { Operation } from '../operation/operation.ts'
import type { KeyInput, Scope } from '../record/identity.ts'
import type { RedriveOption, Source } from './sources/source.ts'
import type { FailureReason } from './verdict.ts'

/** A record of a queue, or of the source it is said to be of, whose body is parsed. */
export type BatchRecord<B, R = SQSRecord> = Omit<R, 'body'> & {
  readonly body: B
  /** The body's text, as it came or as it was in the envelope that was taken off. */
  readonly rawBody: string
}

/** What a user writes for one record. Its result is awaited and stored; nobody else gets it. */
export type RecordHandler<B, R = SQSRecord> = (
  record: BatchRecord<B, R>,
  operation: Operation,
  context: Context,
) => unknown

/** A record that is reported as failed. */
export interface RecordFailure<R = SQSRecord> {
  readonly why: FailureReason
  /** What was thrown, if anything was. */
  readonly error?: unknown
  readonly record: R
}

/** The options that do not concern the body. */
export interface CommonBatchOptions<B, R = SQSRecord> {
  /** Made by `createIdempotency`. Its retention has to outlast the queue's, and that of its dead-letter queue. */
  readonly idempotency: Idempotency
  /**
   * What names the operation, such as `(record) => record.body.orderId`. Prefer a business id: a redrive from a
   * dead-letter queue and a producer's second send make new message ids, which protect from nothing.
   * @defaultValue what the source says: of a message the attribute `Idempotency-Key`, else the messageId; of a stream's
   * record the eventID
   */
  readonly key?: (record: BatchRecord<B, R>, context: Context) => KeyInput
  /**
   * Who asks. Give queues that carry the same operations the same scope.
   * @defaultValue the ARN of the queue or stream; in the consumer of a dead-letter queue that of the queue the message
   * came from
   */
  readonly scope?: Scope | ((record: BatchRecord<B, R>, context: Context) => Scope)
  /**
   * What tells one request from another under the same key; `false`: nothing does.
   * @defaultValue the body's bytes; of what was in an envelope, what does not differ from one sending to the next
   */
  readonly fingerprint?: false | ((record: BatchRecord<B, R>) => unknown)
  /**
   * What becomes of a message that has no body, or one that cannot be parsed or does not match the schema: reported
   * as failed, on its way to the dead-letter queue (`fail`), or deleted (`ack`).
   * @defaultValue 'fail'
   */
  readonly poison?: 'fail' | 'ack'
  /**
   * How many records run at the same time.
   * @defaultValue 10
   */
  readonly concurrency?: number
  /**
   * Whether claims and endings of records that are due at the same time share requests, where the store can do that. For
   * DynamoDB the function's role needs `dynamodb:PartiQLInsert` and `dynamodb:PartiQLUpdate` on the table; without them
   * each record is written by itself, and a warning says so.
   * @defaultValue true
   */
  readonly groupCommit?: boolean
  /**
   * What a failure stops on a FIFO queue: its message group (`group`; groups then run side by side), or the rest of
   * the batch, which then runs one by one (`batch`).
   * @defaultValue 'group'
   */
  readonly fifo?: 'group' | 'batch'
  /**
   * No record is started, and no claim written, when less of the invocation's time is left, in seconds.
   * @defaultValue 1
   */
  readonly deadlineMarginSeconds?: number
  /**
   * The queue that the messages come from, so that `operation.delay` and `operation.wait` can send a message there that
   * continues the operation. On a FIFO queue others overtake it, so there it has to be allowed.
   * @defaultValue none: an operation cannot be suspended, unless a reconciler continues it
   */
  readonly redrive?: RedriveOption
  /**
   * Called for a message whose operation is still in progress elsewhere, with the seconds until that execution's lease
   * ends (1 to 43 200), so that the redelivery does not come in vain. The queue's URL is yours to give:
   * `({ receiptHandle }, seconds) => sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: seconds }))`.
   * @defaultValue the queue's visibility timeout stays
   */
  readonly changeVisibility?: (record: R, seconds: number) => PromiseLike<unknown>
  /**
   * Sees every record that is reported as failed. The only one to see what a handler threw: the batch answers with
   * identifiers. It is awaited; what it throws is reported to the observer, and changes nothing.
   * @defaultValue errors are written with `console.error`, without key and body
   */
  readonly onFailure?: (failure: RecordFailure<R>) => unknown
}

/** Options of a batch whose bodies are parsed. */
export interface ParsedBatchOptions<B, R = SQSRecord> extends CommonBatchOptions<B, R> {
  /**
   * Where the records come from: `sqs()`, `kinesis()`, `dynamoStream()`, `kafka()`.
   * @defaultValue `sqs()`
   */
  readonly source?: Source<R>
  /**
   * Makes a body out of the text; what it throws says that the record is poison. `(text) => text` leaves it as it is.
   * @defaultValue the source's own, `JSON.parse` as a rule
   */
  readonly parse?: (text: string, record: R) => B
  readonly schema?: undefined
}

/** Options of a batch whose bodies are what their source makes of them. */
export interface SourcedBatchOptions<B, R> extends CommonBatchOptions<B, R> {
  /** As in {@link ParsedBatchOptions}. */
  readonly source: Source<R, B>
  readonly parse?: undefined
  readonly schema?: undefined
}

/** Options of a batch whose bodies are parsed, validated and typed by a schema. */
export interface ValidatedBatchOptions<B, R = SQSRecord> extends CommonBatchOptions<B, R> {
  /** As in {@link ParsedBatchOptions}. */
  readonly source?: Source<R>
  /** A schema of any library that follows Standard Schema. Its output is the body. */
  readonly schema: StandardSchema<B>
  /**
   * Makes what the schema gets out of the text.
   * @defaultValue the source's own, `JSON.parse` as a rule
   */
  readonly parse?: (text: string, record: R) => unknown
}

/** Options of `idempotentBatch` and `batchHandler`. */
export type IdempotentBatchOptions<B = unknown, R = SQSRecord> =
  | ParsedBatchOptions<B, R>
  | SourcedBatchOptions<B, R>
  | ValidatedBatchOptions<B, R>

/** The defaults of {@link IdempotentBatchOptions}. */
export const BATCH_DEFAULTS: Readonly<{
  poison: 'fail' | 'ack'
  concurrency: number
  groupCommit: boolean
  fifo: 'group' | 'batch'
  deadlineMarginSeconds: number
}> = /* @__PURE__ */ Object.freeze({
  poison: 'fail',
  concurrency: 10,
  groupCommit: true,
  fifo: 'group',
  deadlineMarginSeconds: 1,
})
