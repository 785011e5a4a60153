import type { Contract } from './disposition.ts'
import { MissingKeyError } from './errors.ts'
import type { OperationRequest } from './execution.ts'
import { fingerprintOf, fingerprintValue, NO_FINGERPRINT } from './fingerprint.ts'
import { normalizeKey, normalizeScope, operationId, type Scope } from './identity.ts'
import type { Settings } from './options.ts'

/** What tells an operation from others of its namespace, as it came: nothing of it is checked yet. */
export interface NameParts {
  readonly key: unknown
  readonly scope?: Scope | undefined
}

/** What an operation is asked for with, as it came: nothing of it is checked yet. */
export interface RequestParts extends NameParts {
  /** A value or a text that is the same in every repetition; `false`: every request under this key counts as the same one. */
  readonly fingerprint: { readonly value: unknown } | { readonly text: string } | false
  readonly contract: Contract
  /** ms left of the invocation. Absent: not known. */
  readonly remainingMs?: number | undefined
}

/**
 * Key and id of an operation: the one place where they are made, so that no shell can name an operation in a way of
 * its own.
 *
 * @throws MissingKeyError, InvalidKeyError
 * @throws InvalidOptionError when the scope is none
 */
export function nameOperation(
  { namespace }: Pick<Settings, 'namespace'>,
  { key: given, scope }: NameParts,
): Pick<OperationRequest, 'id' | 'key'> {
  const key = normalizeKey(given)
  if (key === undefined) {
    throw new MissingKeyError('An operation needs a key: a string, a number, or an array of these without gaps.')
  }
  return { id: operationId(namespace, normalizeScope([scope ?? []].flat()), key), key }
}

/**
 * The request that a claim is made for.
 *
 * @throws what {@link nameOperation} throws
 * @throws InvalidInputError when the value to fingerprint has no canonical form
 */
export function operationRequest(
  { namespace, clock }: Pick<Settings, 'namespace' | 'clock'>,
  { fingerprint, contract, remainingMs, ...name }: RequestParts,
): OperationRequest {
  return {
    ...nameOperation({ namespace }, name),
    fingerprint: fingerprintFrom(fingerprint),
    contract,
    ...(remainingMs !== undefined && { deadlineMs: clock.now() + remainingMs }),
  }
}

function fingerprintFrom(from: RequestParts['fingerprint']): string {
  if (from === false) return NO_FINGERPRINT
  return 'text' in from ? fingerprintOf(from.text) : fingerprintValue(from.value)
}
