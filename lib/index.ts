export type { AcquireOptions, Admission, AdmittedKey } from './core/admission.ts'
export type { CommitPlan, CommitWrite, GuardedCommitWrite, TransactWrite } from './core/commit-plan.ts'
export type { Disposition } from './core/disposition.ts'
export {
  CommitConflictError,
  CommittedOtherwiseError,
  type ErrorCode,
  InProgressError,
  InvalidEventError,
  InvalidInputError,
  InvalidKeyError,
  InvalidOptionError,
  isLambdaOnceError,
  LambdaOnceError,
  LeaseLostError,
  MismatchError,
  MissingKeyError,
  NoEffectError,
  OperationFailedError,
  OutcomeLostError,
  OutcomeNotRecordedError,
  OutcomeUnstorableError,
  PermanentError,
  RetryLater,
  StepNotAwaitedError,
  StoreError,
  StoreUnavailableError,
  UnknownOutcomeError,
  WaitingError,
} from './core/errors.ts'
export {
  createIdempotency,
  type Idempotency,
  type OperationName,
  type RequestIdentity,
  type RunRequest,
  type RunResult,
  type WrapOptions,
} from './core/idempotency.ts'
export { type KeyInput, MAX_KEY_BYTES, type Scope } from './core/identity.ts'
export type { InvocationContext } from './core/invocation.ts'
export type { Operation } from './core/operation.ts'
export { DEFAULTS, type IdempotencyOptions } from './core/options.ts'
export type {
  Clock,
  NewId,
  Observer,
  OperationEvent,
  Random,
  Rejection,
  Timed,
  Traced,
} from './core/ports.ts'
export type { Receipt, ReceiptKind } from './core/receipts.ts'
export {
  type Continuation,
  type Moment,
  type OperationRecord,
  OUTBOX_PREFIX,
  RECEIPT_PREFIX,
  RECORD_SORT_KEY,
  type RedriveTarget,
  type Status,
  type StepRecord,
  type StoredFailure,
  type StoredOutcome,
  type StoredRedrive,
  type StoredSignal,
  type StoredValue,
  type TakeoverPolicy,
  TTL_ATTRIBUTE,
} from './core/record.ts'
export type { Settlement, SettleResult } from './core/settle.ts'
export type { SignalOptions, SignalResult } from './core/signal.ts'
export type { ProbeResult, StepContext, StepOptions } from './core/step-options.ts'
export {
  type BesideItem,
  type CommitAnswer,
  type Condition,
  type DueItem,
  PART_BYTES,
  type Parts,
  type Preparation,
  type RecordChange,
  type StandingCondition,
  type Store,
  type WriteAnswer,
  type WriteConflict,
} from './core/store.ts'
export type { DelayUntil, Suspension } from './core/suspension.ts'
export type { Trace, TraceEnd, TracedPart, Tracing } from './core/tracing.ts'
export type { OutboxMessage, OutboxTarget } from './outbox/message.ts'
