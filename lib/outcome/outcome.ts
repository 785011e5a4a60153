import { isLambdaOnceError } from '../base/errors.ts'
import type { OperationRecord, StoredFailure, StoredOutcome } from '../record/record.ts'
import type { ValueName } from '../record/value-codec.ts'
import { type EncodedValue, encodeValue } from './codec.ts'
import { type CodedFailure, codedFailure, decodedFailure, failureOf } from './failure.ts'
import { decodeStored, type Lifetime, type Reader, save, type Writer } from './stored.ts'

/** What a finished operation answers to every repetition. */
export type Outcome =
  /** Where a commit stored the value, `wire` is the final wire response, if that is another one. */
  | { readonly kind: 'value'; readonly value: unknown; readonly isCommitted?: boolean; readonly wire?: unknown }
  | { readonly kind: 'failure'; readonly failure: StoredFailure; readonly value?: unknown }

/**
 * An outcome that is known to be storable, as far as that can be told before anything is written; `persist` writes its
 * parts, if it has any, and answers what points at them. What turns out to be unstorable there becomes a failure, too.
 */
export type EncodedOutcome = (
  | { readonly kind: 'value' }
  | { readonly kind: 'failure'; readonly failure: StoredFailure }
) & {
  persist(lifetime: Lifetime): Promise<StoredOutcome>
}

/** Encodes an outcome. A value that cannot be stored becomes the failure `OUTCOME_UNSTORABLE`: never a reason to run again. */
export async function encodeOutcome(writer: Writer, of: ValueName, outcome: Outcome): Promise<EncodedOutcome> {
  const failure = outcome.kind === 'failure' ? outcome.failure : undefined
  if (failure !== undefined && outcome.value === undefined) return withoutValue(failure, writer, of)
  let encoded: EncodedValue | undefined
  try {
    encoded = await encodeValue(outcome.value)
  } catch (error) {
    if (isUnstorable(error)) return withoutValue(failure ?? failureOf(error), failure && writer, of)
    // What is needed for it has not loaded. It is tried again where it is written, with the patience of a write.
    if (!isLambdaOnceError(error, 'STORE')) throw error
  }
  const made = async () => encoded ?? (await encodeValue(outcome.value))
  return {
    ...(failure === undefined ? { kind: 'value' } : { kind: 'failure', failure }),
    async persist(lifetime) {
      const clear = failure && (await codedFailure(writer, of, failure, lifetime))
      try {
        const value = await save(writer, of, made, lifetime)
        return clear === undefined ? { kind: 'value', value } : { kind: 'failure', ...clear, value }
      } catch (error) {
        if (!isUnstorable(error)) throw error
        return { kind: 'failure', ...(clear ?? { failure: failureOf(error) }) }
      }
    },
  }
}

/** Encodes the failure of an operation, with the final wire response that its first caller gets, if there is one. */
export async function encodeFailure(
  writer: Writer,
  of: ValueName,
  error: unknown,
  answer?: () => unknown,
): Promise<EncodedOutcome> {
  const value = answer?.()
  return encodeOutcome(writer, of, {
    kind: 'failure',
    failure: failureOf(error),
    ...(value !== undefined && { value }),
  })
}

/** @throws OutcomeLostError when pieces of it are missing or damaged; OutcomeUnreadableError */
export async function decodeOutcome(
  reader: Reader,
  stored: StoredOutcome,
  { id, commitId, wire }: Pick<OperationRecord, 'id' | 'commitId' | 'wire'>,
): Promise<Outcome> {
  const of = { operationId: id, purpose: 'outcome' } as const
  const value = stored.value === undefined ? undefined : await decodeStored(reader, stored.value, of)
  if (stored.kind === 'value') {
    return {
      kind: 'value',
      value,
      ...(commitId !== undefined && { isCommitted: true }),
      ...(wire !== undefined && { wire: await decodeStored(reader, wire, { operationId: id, purpose: 'response' }) }),
    }
  }
  const failure = await decodedFailure(reader, of, stored)
  return { kind: 'failure', failure, ...(stored.value !== undefined && { value }) }
}

/** Without a writer the failure is the toolkit's own and lies there in clear. */
function withoutValue(failure: StoredFailure, writer: Writer | undefined, of: ValueName): EncodedOutcome {
  return {
    kind: 'failure',
    failure,
    async persist(lifetime) {
      const clear: CodedFailure = writer ? await codedFailure(writer, of, failure, lifetime) : { failure }
      return { kind: 'failure', ...clear }
    },
  }
}

function isUnstorable(error: unknown): error is Error {
  return isLambdaOnceError(error, 'OUTCOME_UNSTORABLE')
}
