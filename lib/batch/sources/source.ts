import type { MSKEvent, MSKRecord, SelfManagedKafkaEvent } from 'aws-lambda'
import type { OperationRequest } from '../../engine/request.ts'
import type { KeyInput, Scope } from '../../record/identity.ts'
import type { Content, Opened } from '../../sources/content.ts'

/** What a batch has to know of the event source its records come from; `D` is what its bodies are by default. */
export interface Source<R, D = unknown> {
  /** As error messages name it. */
  readonly name: string
  /** What only a queue can do; absent where records are read from a shard or a partition. */
  readonly queue?: QueueTraits<R>
  /**
   * The records of an event, each one a copy: parsers among other middlewares replace bodies in place.
   * @throws InvalidEventError when the event is not of this source
   */
  records(event: unknown): readonly R[]
  /** What a failure of the record is reported under. `undefined`: it has nothing of the kind. */
  identifier(record: R): Identifier | undefined
  /** Records of one group run one after another, in the order of the event. `undefined`: in any order. */
  group(record: R): string | undefined
  /** What is in the record: one operation each. Never throws. */
  open(record: R): Opened
  /** Reads a content's text when the options do not say how; what it throws says that the record is poison. */
  parse(text: string, record: R): D
  /**
   * The default key. `place`: which of the record's contents it is; `undefined` when it is the only one.
   * @throws InvalidKeyError when the record names a key that cannot be one
   */
  key(record: R, content: Content, place: number | undefined): KeyInput
  /** The default scope. */
  scope(record: R): Scope
  /** The identifiers that the answer names, given those of all records that failed, in the order of the event. */
  report(failed: readonly FailedRecord[]): readonly Identifier[]
}

/** A place in a topic, as Lambda wants it to be named. */
export interface TopicPosition {
  /** Topic and partition, joined by a hyphen. */
  readonly partition: string
  readonly offset: number
}

/** What a record's failure is reported under. */
export type Identifier = string | TopicPosition

export interface FailedRecord {
  readonly identifier: Identifier
  readonly group: string | undefined
}

/** What a queue's record can be given, so that its operation can be suspended and continued by a message. */
export interface QueueTraits<R> {
  /** How the record is sent again, or why it cannot be. */
  resend(
    redrive: RedriveOption | undefined,
    record: R,
    key: string,
  ): Pick<OperationRequest, 'redrive' | 'mayNotSuspend'>
  /** Whether it was delivered before. */
  isRedelivered(record: R): boolean
  /** The operation that the record continues. */
  continued(namespace: string, record: R): Pick<OperationRequest, 'id' | 'key' | 'continuationId'> | undefined
}

/** The queue that messages come from. */
export interface RedriveOption {
  readonly queueUrl: string
  readonly allowReorder?: boolean
}

/** The event that brings records of this type. */
export type EventOf<R> = R extends MSKRecord ? MSKEvent | SelfManagedKafkaEvent : { Records: R[] }

/** What Lambda is answered for records of this type. */
export interface BatchAnswer<R> {
  batchItemFailures: { itemIdentifier: R extends MSKRecord ? TopicPosition : string }[]
}
