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
  OutcomeUnreadableError,
  OutcomeUnstorableError,
  PermanentError,
  RetryLater,
  StepNotAwaitedError,
  StoreError,
  StoreUnavailableError,
  UnknownOutcomeError,
  WaitingError,
} from './base/errors.ts'
export type { InvocationContext } from './base/invocation.ts'
export type {
  Clock,
  NewId,
  Observer,
  OperationEvent,
  Random,
  Rejection,
  Timed,
  Traced,
} from './base/ports.ts'
export type { AcquireOptions, Admission, AdmittedKey } from './idempotency/admission.ts'
export type {
  Idempotency,
  OperationName,
  RequestIdentity,
  RunRequest,
  RunResult,
  WrapOptions,
} from './idempotency/api.ts'
export { createIdempotency } from './idempotency/idempotency.ts'
export type { Settlement, SettleResult } from './idempotency/settle.ts'
export type { SignalOptions, SignalResult } from './idempotency/signal.ts'
export type { CommitPlan, OutboxMessage, OutboxTarget } from './operation/commit-plan.ts'
export type { Operation } from './operation/operation.ts'
export { DEFAULTS, type IdempotencyOptions } from './operation/options.ts'
export type { ProbeResult, StepContext, StepOptions } from './operation/step-options.ts'
export type { DelayUntil, Suspension } from './operation/suspension.ts'
export type { Trace, TracedPart, TraceEnd, Tracing } from './operation/tracing.ts'
export type { CommitWrite, GuardedCommitWrite, TransactWrite } from './order/commit-write.ts'
export type { Receipt, ReceiptKind } from './outcome/receipts.ts'
export type { Disposition } from './record/disposition.ts'
export { type KeyInput, MAX_KEY_BYTES, type Scope } from './record/identity.ts'
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
} from './record/record.ts'
export {
  type BesideItem,
  type CommitAnswer,
  type Condition,
  type DueItem,
  type GroupPacing,
  PART_BYTES,
  type Parts,
  type Preparation,
  type RecordChange,
  type StandingCondition,
  type Store,
  type WriteAnswer,
  type WriteConflict,
} from './record/store.ts'
export type { ValueCodec, ValueContext, ValueName, ValuePurpose } from './record/value-codec.ts'
