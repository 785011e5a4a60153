import { isLambdaOnceError } from '../base/errors.ts'
import type { Settings } from '../operation/options.ts'
import type { OperationRecord, StoredFailure, StoredOutcome, StoredValue } from '../record/record.ts'
import type { Store } from '../record/store.ts'
import { decodeValue, encodeValue } from './codec.ts'
import { readParts, splitValue, type Unsaved } from './parts.ts'
import { untilAnswered } from './persist.ts'

/** What a finished operation answers to every repetition. */
export type Outcome =
  /** Where a commit stored the value, `wire` is the final wire response, if that is another one. */
  | { readonly kind: 'value'; readonly value: unknown; readonly isCommitted?: boolean; readonly wire?: unknown }
  | { readonly kind: 'failure'; readonly failure: StoredFailure; readonly value?: unknown }

/** An outcome that is known to be storable; `persist` writes its parts, if it has any, and answers what points at them. */
export type EncodedOutcome = (
  | { readonly kind: 'value' }
  | { readonly kind: 'failure'; readonly failure: StoredFailure }
) & {
  persist(lifetime: Lifetime): Promise<StoredOutcome>
}

type Writer = Pick<Settings, 'store' | 'clock' | 'newId' | 'random'>

/** Parts outlive the record that points at them by this much, in seconds, so that no reader ever finds it dangling. */
const PARTS_OUTLIVE_SECONDS = 7 * 86_400

/** Encodes an outcome. A value that cannot be stored becomes the failure `OUTCOME_UNSTORABLE`: never a reason to run again. */
export async function encodeOutcome(writer: Writer, outcome: Outcome): Promise<EncodedOutcome> {
  const failure = outcome.kind === 'failure' ? outcome.failure : undefined
  if (failure !== undefined && outcome.value === undefined) return withoutValue(failure)
  let unsaved: Unsaved
  try {
    unsaved = splitValue(await encodeValue(outcome.value))
  } catch (error) {
    if (!isLambdaOnceError(error, 'OUTCOME_UNSTORABLE')) throw error
    return withoutValue(failure ?? failureOf(error))
  }
  if (failure === undefined) {
    return {
      kind: 'value',
      persist: async (lifetime) => ({ kind: 'value', value: await save(writer, unsaved, lifetime) }),
    }
  }
  return {
    kind: 'failure',
    failure,
    persist: async (lifetime) => ({ kind: 'failure', failure, value: await save(writer, unsaved, lifetime) }),
  }
}

/** Encodes the failure of an operation, with the final wire response that its first caller gets, if there is one. */
export async function encodeFailure(writer: Writer, error: unknown, answer?: () => unknown): Promise<EncodedOutcome> {
  const value = answer?.()
  return encodeOutcome(writer, { kind: 'failure', failure: failureOf(error), ...(value !== undefined && { value }) })
}

/** @throws OutcomeLostError when pieces of it are missing or damaged. */
export async function decodeOutcome(
  store: Store,
  stored: StoredOutcome,
  { commitId, wire }: Pick<OperationRecord, 'commitId' | 'wire'> = {},
): Promise<Outcome> {
  const value = stored.value === undefined ? undefined : await decodeStored(store, stored.value)
  if (stored.kind === 'value') {
    return {
      kind: 'value',
      value,
      ...(commitId !== undefined && { isCommitted: true }),
      ...(wire !== undefined && { wire: await decodeStored(store, wire) }),
    }
  }
  return { kind: 'failure', failure: stored.failure, ...(stored.value !== undefined && { value }) }
}

function withoutValue(failure: StoredFailure): EncodedOutcome {
  return { kind: 'failure', failure, persist: async () => ({ kind: 'failure', failure }) }
}

/** How long the parts of a value may take to be written, and how long what points at them will be there. */
export interface Lifetime {
  /** Until when the writes are retried, in ms. */
  readonly giveUpAtMs: number
  /** When the item that will point at the parts expires, in seconds; `undefined`: never. */
  readonly expiresAt: number | undefined
}

/**
 * Encodes a value that is no outcome, writes its parts if it has any, and answers what points at them.
 * @throws OutcomeUnstorableError naming the path of what cannot be stored; StoreError
 */
export async function storeValue(writer: Writer, value: unknown, lifetime: Lifetime): Promise<StoredValue> {
  return save(writer, splitValue(await encodeValue(value)), lifetime)
}

/** The value as it lies inside a record; `undefined` when it is too large for that. */
export async function inlineValue(value: unknown): Promise<StoredValue | undefined> {
  const unsaved = splitValue(await encodeValue(value))
  return unsaved.kind === 'parts' ? undefined : unsaved
}

async function save(
  { store, clock, random, newId }: Writer,
  unsaved: Unsaved,
  { giveUpAtMs, expiresAt: pointerExpiresAt }: Lifetime,
): Promise<StoredValue> {
  if (unsaved.kind !== 'parts') return unsaved
  const partsId = newId()
  const expiresAt = pointerExpiresAt === undefined ? undefined : pointerExpiresAt + PARTS_OUTLIVE_SECONDS
  await untilAnswered(() => store.putParts({ partsId, parts: unsaved.parts, expiresAt }), { clock, random, giveUpAtMs })
  const { parts, length, sha256 } = unsaved
  return { kind: 'parts', partsId, count: parts.length, length, sha256 }
}

/** @throws OutcomeLostError when pieces of it are missing or damaged. */
export async function decodeStored(store: Store, stored: StoredValue): Promise<unknown> {
  switch (stored.kind) {
    case 'text':
      return decodeValue(stored)
    case 'brotli':
      return decodeValue(stored)
    case 'parts':
      return decodeValue({ kind: 'brotli', bytes: await readParts(store, stored) })
  }
}

/** The longest text of an error that is kept, so that a failure never makes the record large. */
const MAX_MESSAGE_LENGTH = 300

function failureOf(error: unknown): StoredFailure {
  if (!(error instanceof Error)) return { name: 'Error', message: clip(error) }
  const code: unknown = Reflect.get(error, 'code')
  return {
    name: clip(error.name),
    message: clip(error.message),
    ...(typeof code === 'string' && { code: clip(code) }),
  }
}

/** Anything may be thrown, and an error's fields may hold anything: making a text of them must not throw again. */
function clip(value: unknown): string {
  let text: string
  try {
    text = String(value)
  } catch {
    text = 'a value that has no text'
  }
  const whole = text.length <= MAX_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_MESSAGE_LENGTH)}…`
  return whole.toWellFormed()
}
