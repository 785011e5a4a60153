import type { Settings } from '../operation/options.ts'
import type { StoredValue } from '../record/record.ts'
import type { ValueName } from '../record/value-codec.ts'
import { decodeValue, type EncodedValue, encodeValue } from './codec.ts'
import { type CodedValue, code, decode, refusePlain } from './coded.ts'
import { lazily } from './lazily.ts'
import { untilAnswered } from './persist.ts'

/** What stored values are written with. */
export type Writer = Pick<Settings, 'store' | 'clock' | 'newId' | 'random' | 'codecs'>
/** What stored values are read with. */
export type Reader = Pick<Settings, 'store' | 'codecs'>

/** How long the parts of a value may take to be written, and how long what points at them will be there. */
export interface Lifetime {
  /** Until when the writes are retried, in ms. */
  readonly giveUpAtMs: number
  /** When the item that will point at the parts expires, in seconds; `undefined`: never. */
  readonly expiresAt: number | undefined
}

/** The most bytes an encoded value may have inside the record: with the record's own fields that is below 2 KB. */
const MAX_INLINE_BYTES = 1_300

/** Parts outlive the record that points at them by this much, in seconds, so that no reader ever finds it dangling. */
const PARTS_OUTLIVE_SECONDS = 7 * 86_400

const multipart = /* @__PURE__ */ lazily(() => import('./parts.ts'))

/**
 * Encodes a value, writes its parts if it has any, and answers what points at them.
 * @throws OutcomeUnstorableError naming the path of what cannot be stored; StoreError
 */
export async function storeValue(
  writer: Writer,
  of: ValueName,
  value: unknown,
  lifetime: Lifetime,
): Promise<StoredValue> {
  return save(writer, of, () => encodeValue(value), lifetime)
}

/**
 * The value as it lies inside a record; `undefined` when it is too large for that.
 * @throws as {@link storeValue}
 */
export async function inlineValue(writer: Writer, of: ValueName, value: unknown): Promise<StoredValue | undefined> {
  const encoded = await encodeValue(value)
  if (!isInline(encoded)) return undefined
  const coded = await byCodec(writer, of, encoded)
  return isInline(coded) ? coded : undefined
}

/**
 * Writes a value's parts, if it has any, and answers what points at them. Whatever does not work for now is repeated:
 * the store, the codec, a part of the package that does not load.
 * @throws OutcomeUnstorableError when it is too large even in parts; StoreError
 */
export async function save(
  writer: Writer,
  of: ValueName,
  encode: () => Promise<EncodedValue>,
  { giveUpAtMs, expiresAt: pointerExpiresAt }: Lifetime,
): Promise<StoredValue> {
  const { store, clock, random, newId } = writer
  const pacing = { clock, random, giveUpAtMs }
  const coded = await untilAnswered(async () => byCodec(writer, of, await encode()), pacing)
  if (!('bytes' in coded) || isInline(coded)) return coded
  const { split } = await untilAnswered(multipart, pacing)
  const { parts, length, sha256 } = split(coded.bytes)
  const partsId = newId()
  const expiresAt = pointerExpiresAt === undefined ? undefined : pointerExpiresAt + PARTS_OUTLIVE_SECONDS
  await untilAnswered(() => store.putParts({ partsId, parts, expiresAt }), pacing)
  const by = coded.kind === 'coded' && { codec: coded.codec }
  return { kind: 'parts', partsId, count: parts.length, length, sha256, ...by }
}

/** @throws OutcomeLostError when pieces of it are missing or damaged; OutcomeUnreadableError; StoreError */
export async function decodeStored(reader: Reader, stored: StoredValue, of: ValueName): Promise<unknown> {
  return decodeValue(await plainOf(reader, await wholeOf(reader, stored), of))
}

type Whole = EncodedValue | CodedValue

async function byCodec({ codecs: [codec] }: Writer, of: ValueName, encoded: EncodedValue): Promise<Whole> {
  return codec === undefined ? encoded : code(codec, encoded, of)
}

function isInline(value: Whole): boolean {
  return !('bytes' in value) || value.bytes.length <= MAX_INLINE_BYTES
}

async function wholeOf({ store }: Reader, stored: StoredValue): Promise<Whole> {
  if (stored.kind !== 'parts') return stored
  const { readParts } = await multipart()
  const bytes = await readParts(store, stored)
  return stored.codec === undefined ? { kind: 'brotli', bytes } : { kind: 'coded', codec: stored.codec, bytes }
}

async function plainOf({ codecs }: Reader, whole: Whole, of: ValueName): Promise<EncodedValue> {
  if (whole.kind === 'coded') return decode(codecs, whole, of)
  refusePlain(codecs)
  return whole
}
