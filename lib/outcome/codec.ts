import { isLambdaOnceError, OutcomeLostError } from '../base/errors.ts'
import { lazily } from './lazily.ts'
import { smallJson } from './small-json.ts'

/** An encoded value: as text while that is small (people read records too), else compressed. */
export type EncodedValue =
  /** JSON: all that most operations need. */
  | { readonly kind: 'json'; readonly text: string }
  /** devalue's text, for what JSON cannot say. */
  | { readonly kind: 'text'; readonly text: string }
  /** devalue's text, compressed. */
  | { readonly kind: 'brotli'; readonly bytes: Uint8Array }

/** The longest text, in UTF-8 bytes, that is kept uncompressed. */
const MAX_TEXT_BYTES = 1_024

const richValues = /* @__PURE__ */ lazily(() => import('./rich-values.ts'))
const compression = /* @__PURE__ */ lazily(() => import('./compression.ts'))

/**
 * Encodes a value without loss: `undefined`, `Date`, `Map`, `Set`, `bigint`, typed arrays and `NaN` survive.
 *
 * @throws OutcomeUnstorableError naming the path of a value that cannot be encoded; StoreError when the part of the
 * package that can encode it does not load.
 */
export async function encodeValue(value: unknown): Promise<EncodedValue> {
  const json = smallJson(value, MAX_TEXT_BYTES)
  if (json !== undefined) return { kind: 'json', text: json }
  const { toText } = await richValues()
  const text = toText(value)
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return { kind: 'text', text }
  const { compress } = await compression()
  return { kind: 'brotli', bytes: await compress(text) }
}

/** @throws OutcomeLostError when the bytes are not what {@link encodeValue} makes; StoreError as there */
export async function decodeValue(encoded: EncodedValue): Promise<unknown> {
  try {
    if (encoded.kind === 'json') return JSON.parse(encoded.text)
    const { fromText } = await richValues()
    if (encoded.kind === 'text') return fromText(encoded.text)
    const { decompress } = await compression()
    return fromText(await decompress(encoded.bytes))
  } catch (error) {
    if (isLambdaOnceError(error, 'STORE')) throw error
    throw new OutcomeLostError('A stored outcome cannot be decoded. It is neither replayed nor run again.', {
      cause: error,
    })
  }
}

/**
 * What a repetition will get of a value, whatever becomes of the value itself.
 *
 * @throws OutcomeUnstorableError, StoreError as {@link encodeValue}
 */
export async function copyOfValue(value: unknown): Promise<unknown> {
  const json = smallJson(value, MAX_TEXT_BYTES)
  if (json !== undefined) return JSON.parse(json)
  const { toText, fromText } = await richValues()
  return fromText(toText(value))
}
