import { InvalidOptionError, MissingKeyError } from '../base/errors.ts'
import { refusePromise } from '../base/guards.ts'
import type { Settings } from '../operation/options.ts'
import type { Contract } from '../record/disposition.ts'
import { fingerprintOf, fingerprintValue, NO_FINGERPRINT } from '../record/fingerprint.ts'
import { normalizeKey, normalizeScope, operationId, type Scope, writtenKey } from '../record/identity.ts'
import { type Redrive, sendable } from './redrive.ts'

/** What a claim is for. Computed once at the claim and kept: handlers may mutate the event. */
export interface OperationRequest {
  readonly id: string
  readonly key: string
  readonly fingerprint: string
  readonly contract: Contract
  /** The end of the invocation, ms. Absent: not known. */
  readonly deadlineMs?: number
  /** The caller's small notes, written with the first claim. */
  readonly metadata?: Readonly<Record<string, string>>
  /** It was delivered before, so that there probably is a record. */
  readonly isRedelivered?: boolean
  /** How the request can be delivered again. */
  readonly redrive?: Redrive
  /** A reconciler asks: it continues what is there, and never begins anything. */
  readonly isReconciled?: boolean
  /** Why the operation must not be suspended. Absent: it may be. */
  readonly mayNotSuspend?: string
  /** How long an admission key is taken, in ms. Only admissions have one. */
  readonly admissionMs?: number
  /** The continuation that this delivery is. */
  readonly continuationId?: string
  /** The trace context of this delivery, written with the claim. */
  readonly trace?: string
}

/** What tells an operation from others of its namespace, as it came: nothing of it is checked yet. */
export interface NameParts {
  readonly key: unknown
  readonly scope?: Scope | undefined
  /** The invocation's id, of which no name may be made. Absent: none is known, or it is kept over repetitions. */
  readonly requestId?: string | undefined
}

/** What an operation is asked for with, as it came: nothing of it is checked yet. */
export interface RequestParts extends NameParts {
  /** A value or a text that is the same in every repetition; `false`: every request under this key counts as the same one. */
  readonly fingerprint: { readonly value: unknown } | { readonly text: string } | false
  readonly contract: Contract
  /** ms left of the invocation. Absent: not known. */
  readonly remainingMs?: number | undefined
  readonly metadata?: OperationRequest['metadata'] | undefined
  readonly redrive?: OperationRequest['redrive'] | undefined
  readonly continuationId?: string | undefined
}

/**
 * Key and id of an operation: the one place where they are made, so that no shell can name an operation in a way of
 * its own.
 *
 * @throws MissingKeyError, InvalidKeyError
 * @throws InvalidOptionError when the scope is none, or one of the two is a promise or made of the invocation's id
 */
export function nameOperation(
  { namespace }: Pick<Settings, 'namespace'>,
  { key: given, scope: asked = [], requestId }: NameParts,
): Pick<OperationRequest, 'id' | 'key'> {
  refusePromise('key', [given].flat())
  refusePromise('scope', [asked].flat())
  const key = normalizeKey(given)
  if (key === undefined) {
    throw new MissingKeyError('An operation needs a key: a string, a number, or an array of these without gaps.')
  }
  const scope = normalizeScope([asked].flat())
  if (requestId !== undefined) {
    refuseRequestId('key', [key].flat(), requestId)
    refuseRequestId('scope', scope, requestId)
  }
  return { id: operationId(namespace, scope, key), key: writtenKey(key) }
}

/** As long as Lambda's own request ids. A shorter one, as tests make them, may be part of a longer text by chance. */
const REQUEST_ID_LENGTH = 36

/** A repetition comes in another invocation, so that its id would make a new operation of every one. */
function refuseRequestId(option: 'key' | 'scope', parts: readonly string[], requestId: string): void {
  const isLong = requestId.length >= REQUEST_ID_LENGTH
  if (!parts.some((part) => part === requestId || (isLong && part.includes(requestId)))) return
  throw new InvalidOptionError(
    `${option} must not be made of the invocation’s awsRequestId: a repetition comes with another one. Use a business id. Only Lambda’s own retries of an asynchronous invocation keep it; for those run takes asyncInvocation: true.`,
  )
}

/**
 * The request that a claim is made for.
 *
 * @throws what {@link nameOperation} throws
 * @throws InvalidOptionError when the value to fingerprint is a promise
 * @throws InvalidInputError when it has no canonical form
 */
export function operationRequest(
  { namespace, clock }: Pick<Settings, 'namespace' | 'clock'>,
  { fingerprint, contract, remainingMs, metadata, redrive, continuationId, ...name }: RequestParts,
): OperationRequest {
  if (fingerprint !== false && 'value' in fingerprint) refusePromise('fingerprint', [fingerprint.value])
  return {
    ...nameOperation({ namespace }, name),
    fingerprint: fingerprintFrom(fingerprint),
    contract,
    ...(remainingMs !== undefined && { deadlineMs: clock.now() + remainingMs }),
    ...(metadata !== undefined && { metadata }),
    ...(redrive !== undefined && sendable(redrive)),
    ...(continuationId !== undefined && { continuationId }),
  }
}

function fingerprintFrom(from: RequestParts['fingerprint']): string {
  if (from === false) return NO_FINGERPRINT
  return 'text' in from ? fingerprintOf(from.text) : fingerprintValue(from.value)
}
