export type { Disposition } from './core/disposition.ts'
export {
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
export {
  type Clock,
  type Condition,
  type NewId,
  type Observer,
  type OperationEvent,
  PART_BYTES,
  type Parts,
  type Random,
  type RecordChange,
  type Rejection,
  type StandingCondition,
  type Store,
  type WriteAnswer,
} from './core/ports.ts'
export {
  type Moment,
  type OperationRecord,
  RECORD_SORT_KEY,
  type Status,
  type StepRecord,
  type StoredFailure,
  type StoredOutcome,
  type StoredValue,
  type TakeoverPolicy,
  TTL_ATTRIBUTE,
} from './core/record.ts'
export type { Settlement, SettleResult } from './core/settle.ts'
export type { ProbeResult, StepContext, StepOptions } from './core/step-options.ts'
