import type { StoredFailure, StoredOutcome } from '../record/record.ts'
import type { ValueName } from '../record/value-codec.ts'
import { encodeValue } from './codec.ts'
import { decodeStored, type Lifetime, type Reader, save, type Writer } from './stored.ts'

/** A failure as it lies in the record. */
export type CodedFailure = Pick<Extract<StoredOutcome, { kind: 'failure' }>, 'failure' | 'coded'>

/** What lies in clear where the failure is encoded. */
const IN_CLEAR: StoredFailure = { name: 'Error', message: 'The failure is encoded.' }

/** An error's text may hold what a body holds: where there is a codec, it is encoded, too. */
export async function codedFailure(
  writer: Writer,
  of: ValueName,
  failure: StoredFailure,
  lifetime: Lifetime,
): Promise<CodedFailure> {
  if (writer.codecs.length === 0) return { failure }
  const coded = await save(writer, { ...of, purpose: 'failure' }, () => encodeValue(failure), lifetime)
  return { failure: IN_CLEAR, coded }
}

/** @throws as {@link decodeStored} */
export async function decodedFailure(
  reader: Reader,
  of: ValueName,
  { failure, coded }: CodedFailure,
): Promise<StoredFailure> {
  return coded === undefined
    ? failure
    : ((await decodeStored(reader, coded, { ...of, purpose: 'failure' })) as StoredFailure)
}

/** The longest text of an error that is kept, so that a failure never makes the record large. */
const MAX_MESSAGE_LENGTH = 300

export function failureOf(error: unknown): StoredFailure {
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
