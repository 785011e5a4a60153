import { isLambdaOnceError, OutcomeUnreadableError, OutcomeUnstorableError, StoreError } from '../base/errors.ts'
import type { ValueCodec, ValueContext, ValueName } from '../record/value-codec.ts'
import type { EncodedValue } from './codec.ts'

/** A value as a codec has left it. */
export interface CodedValue {
  readonly kind: 'coded'
  readonly codec: string
  readonly bytes: Uint8Array
}

/** The first byte of what a codec gets says what the others are: so it is as authentic as they are. */
const FORMS: readonly EncodedValue['kind'][] = ['json', 'text', 'brotli']

/**
 * @throws StoreError when the codec threw: nobody has lost anything, and it may be asked again. OutcomeUnstorableError
 * when it did not give bytes
 */
export async function code(codec: ValueCodec, encoded: EncodedValue, name: ValueName): Promise<CodedValue> {
  const content = encoded.kind === 'brotli' ? encoded.bytes : Buffer.from(encoded.text)
  const plain = Buffer.concat([Buffer.of(FORMS.indexOf(encoded.kind)), content])
  let bytes: unknown
  try {
    bytes = await codec.encode(plain, contextOf(name))
  } catch (cause) {
    throw new StoreError(`The codec "${codec.name}" has not encoded a value.`, { cause, retryable: true })
  }
  if (bytes instanceof Uint8Array) return { kind: 'coded', codec: codec.name, bytes }
  throw new OutcomeUnstorableError(
    `The outcome cannot be stored: encode() of the codec "${codec.name}" must give a Uint8Array.`,
  )
}

/** @throws OutcomeUnreadableError */
export async function decode(
  codecs: readonly ValueCodec[],
  { codec: name, bytes }: CodedValue,
  of: ValueName,
): Promise<EncodedValue> {
  const codec = codecs.find((one) => one.name === name)
  if (codec === undefined) {
    throw new OutcomeUnreadableError(
      `A stored value was encoded by the codec "${name}", which is not among the codecs given here.`,
      { retryable: false },
    )
  }
  let plain: unknown
  try {
    plain = await codec.decode(bytes, contextOf(of))
  } catch (cause) {
    const retryable = !isLambdaOnceError(cause) || cause.retryable
    throw new OutcomeUnreadableError(`The codec "${name}" has not decoded a stored value.`, { cause, retryable })
  }
  const kind = plain instanceof Uint8Array ? FORMS[plain[0] ?? FORMS.length] : undefined
  if (kind === undefined || !(plain instanceof Uint8Array)) {
    throw new OutcomeUnreadableError(
      `decode() of the codec "${name}" must give the very bytes that encode() was given.`,
      { retryable: false },
    )
  }
  const content = plain.subarray(1)
  return kind === 'brotli' ? { kind, bytes: content } : { kind, text: Buffer.from(content).toString() }
}

/** @throws OutcomeUnreadableError when only values that a codec has encoded may be believed */
export function refusePlain(codecs: readonly ValueCodec[]): void {
  if (codecs.some(({ refusesPlain }) => refusesPlain)) {
    throw new OutcomeUnreadableError('A stored value was encoded by no codec, and the codec refuses such values.', {
      retryable: false,
    })
  }
}

/** Each part behind its length: no two names have the same bytes. */
function contextOf(of: ValueName): ValueContext {
  const parts = ['lambda-once 1', of.operationId, of.purpose, of.name ?? '']
  const associatedData = Buffer.from(parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(''))
  return Object.freeze({ ...of, associatedData })
}
