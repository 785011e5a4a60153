/** Where an operation stands. The diagram of the moves between these is in ARCHITECTURE.md. */
export type Status = 'IN_PROGRESS' | 'COMPLETED' | 'FAILED' | 'RETRYABLE' | 'WAITING' | 'UNKNOWN' | 'RELEASED'

/** What may happen when a lease runs out: the next delivery takes over, or only an operator may decide. */
export type TakeoverPolicy = 'auto' | 'never'

/** An encoded value as it lies in the record, or the pointer to its parts. */
export type StoredValue =
  /** JSON. */
  | { readonly kind: 'json'; readonly text: string }
  /** devalue's text, for what JSON cannot say. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'brotli'; readonly bytes: Uint8Array }
  /** Encoded by the codec of that name. */
  | { readonly kind: 'coded'; readonly codec: string; readonly bytes: Uint8Array }
  | {
      readonly kind: 'parts'
      /** Fresh for each write of parts, so that no error path can overwrite the parts another write points at. */
      readonly partsId: string
      readonly count: number
      /** Length in bytes of all parts together. */
      readonly length: number
      /** SHA-256 of all parts together, base64url. */
      readonly sha256: string
      /** The codec that has encoded them. Absent: none has. */
      readonly codec?: string
    }

/** What is remembered of the error that ended an operation. */
export interface StoredFailure {
  readonly name: string
  readonly message: string
  readonly code?: string
}

/** What a finished operation stores. A failure may carry the final wire response that its first caller got. */
export type StoredOutcome =
  | { readonly kind: 'value'; readonly value: StoredValue }
  /** `coded`: the failure itself, where a codec encodes what is stored; `failure` then says only that there is one. */
  | {
      readonly kind: 'failure'
      readonly failure: StoredFailure
      readonly value?: StoredValue
      readonly coded?: StoredValue
    }

/** What is remembered of one step. */
export type StepRecord =
  /** It was begun, and nobody has written how it ended. The time is that of the *first* start and never moves. */
  | { readonly kind: 'started'; readonly startedAtMs: number }
  | { readonly kind: 'done'; readonly value: StoredValue }
  /** It was done, and its result could not be stored: it is never run again, and the operation fails. */
  | { readonly kind: 'result-lost'; readonly failure: StoredFailure }

/** What a signal brought. */
export interface StoredSignal {
  /** Tells one signal from a repetition of it. */
  readonly id: string
  readonly atMs: number
  readonly payload: StoredValue
}

/** Where a request is delivered to again: a queue, or a function that is invoked asynchronously. */
export type RedriveTarget = { readonly queueUrl: string } | { readonly functionName: string }

/** A request as it can be delivered again. */
export interface StoredRedrive {
  readonly target: RedriveTarget
  /** For a queue the message: body and attributes; for a function its event. */
  readonly payload: StoredValue
}

/** A message that will continue a suspended operation. */
export interface Continuation {
  /** The message's id. */
  readonly id: string
  /** When it is expected, in ms. */
  readonly dueAtMs: number
}

/** One operation as it lies in the store. Times that end in `Ms` or `Until` are milliseconds, `expiresAt` is seconds. */
export interface OperationRecord {
  /** The operation's id: its namespace and a hash of namespace, scope and key. */
  readonly id: string
  readonly status: Status
  /** 1 for a first claim, +1 per takeover. */
  readonly attempt: number
  /** Random id of the claim that holds, or last held, the operation. */
  readonly token: string
  /** +1 with every write. */
  readonly rev: number
  /** End of the exclusive lease, in ms. Only IN_PROGRESS has one; an IN_PROGRESS record without one counts as live. */
  readonly leaseUntil?: number
  readonly takeover: TakeoverPolicy
  /** When the record stops protecting, in seconds (DynamoDB's TTL attribute). Absent: never. */
  readonly expiresAt?: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly fingerprint: string
  /** Recorded steps by name; they survive a takeover, and a record that has any never counts as absent. */
  readonly steps: Readonly<Record<string, StepRecord>>
  /** How many attempts ended without a word: their lease ran out. Absent: none. */
  readonly crashes?: number
  /** The step whose outcome nobody knows; only UNKNOWN has one. Absent there: the operation crashed too often. */
  readonly unknownStep?: string
  readonly outcome?: StoredOutcome
  /** Names the commit that completed the operation, so that a lost answer is told from a completion without it. */
  readonly commitId?: string
  /** The final wire response of a committed operation, where it is not the committed value itself. */
  readonly wire?: StoredValue
  /** When a WAITING operation is due, in ms. Absent: it waits for a signal. */
  readonly resumeAtMs?: number
  /** What a WAITING operation waits for, in the words of whoever suspended it. */
  readonly waitingFor?: string
  /** The signals that have come, in their order. They are kept, so that every attempt sees the same ones. */
  readonly signals?: readonly StoredSignal[]
  /** How the operation's request can be delivered again. */
  readonly redrive?: StoredRedrive
  /** The message on its way that will continue a WAITING operation. */
  readonly continuation?: Continuation
  /** The caller's small notes. */
  readonly metadata?: Readonly<Record<string, string>>
  /** An admission key: its lease is its time to live. */
  readonly isAdmission?: true
  /** The attempt is a reconciler's: when it ends without a word, that is no crash of the work. */
  readonly isReconciled?: true
  /** Whether the unknown step can be asked about: its `probe`. */
  readonly canProbe?: true
  /** Where a reconciler finds the operation, and from when on, in ms. Absent: there is nothing to do. */
  readonly dueShard?: string
  readonly dueAtMs?: number
  /** The trace context (W3C `traceparent`) of the last execution that was traced. */
  readonly trace?: string
  /** Version of this shape. */
  readonly schema: 1
}

/** The sort key under which the record itself lies; outbox items and receipts lie beside it. */
export const RECORD_SORT_KEY = 'op'
/** The sort keys of messages that are to be sent begin so. */
export const OUTBOX_PREFIX = 'outbox#'
/** The sort keys of receipts begin so. */
export const RECEIPT_PREFIX = 'receipt#'

/** DynamoDB's TTL attribute. One constant for the runtime and the CDK constructs, so that they cannot differ. */
export const TTL_ATTRIBUTE = 'expiresAt'

/** A moment and the margin that clocks of two machines may differ by. */
export interface Moment {
  readonly nowMs: number
  readonly clockSkewMs: number
}

/** Whether the record's retention is over. TTL deletion lags by days, so reads and conditions decide, not DynamoDB. */
export function isExpired(record: Pick<OperationRecord, 'expiresAt'>, nowMs: number): boolean {
  return record.expiresAt !== undefined && record.expiresAt <= Math.floor(nowMs / 1000)
}

/** Whether somebody may still be working. A record that names no lease counts as live, never as free. */
export function isLeaseRunning(
  record: Pick<OperationRecord, 'status' | 'leaseUntil'>,
  { nowMs, clockSkewMs }: Moment,
): boolean {
  if (record.status !== 'IN_PROGRESS') return false
  return record.leaseUntil === undefined || record.leaseUntil + clockSkewMs >= nowMs
}

/**
 * Whether a claim may treat the record as if it were not there: released, or expired with nothing in it
 * that a later attempt would need (a running lease, recorded steps, an unknown outcome).
 */
export function countsAsAbsent(record: OperationRecord, moment: Moment): boolean {
  switch (record.status) {
    case 'RELEASED':
      return true
    case 'COMPLETED':
    case 'FAILED':
      return isExpired(record, moment.nowMs)
    case 'UNKNOWN':
      return false
    case 'IN_PROGRESS':
    case 'RETRYABLE':
    case 'WAITING':
      return (
        isExpired(record, moment.nowMs) && Object.keys(record.steps).length === 0 && !isLeaseRunning(record, moment)
      )
  }
}
