import { InvalidOptionError } from '../base/errors.ts'
import { functionOption, refuseUnknown, show } from '../base/guards.ts'

/** What a stored value is. */
export type ValuePurpose =
  /** What the operation returned or committed, or the final response that its first caller got with a failure. */
  | 'outcome'
  /** The final wire response of a committed operation. */
  | 'response'
  /** Name, message and code of the error that ended the operation. */
  | 'failure'
  /** The result of a step. */
  | 'step'
  /** What a signal brought. */
  | 'signal'
  /** The request, kept so that it can be delivered again. */
  | 'request'
  /** The body of a message in the outbox. */
  | 'message'
  | 'receipt'

/** Which value it is. */
export interface ValueName {
  readonly operationId: string
  readonly purpose: ValuePurpose
  /**
   * Which one of several: a step's name, the id of a signal or of a message, a receipt's sort key.
   * @defaultValue none: there is only one
   */
  readonly name?: string
}

/** What a codec is told of the value. It is not secret, and it is the same for encoding and decoding. */
export interface ValueContext extends ValueName {
  /**
   * All of it as bytes, no two values' alike. Authenticate them with the value, as the additional data of AES-GCM, so
   * that nobody can put it in the place of another.
   */
  readonly associatedData: Uint8Array
}

/** Turns stored values into what may lie in the table, and back: encryption, for one. */
export interface ValueCodec {
  /** Lies beside every value it has encoded, and finds it again to decode it. Give another format another name. */
  readonly name: string
  /** Called after the work. What it throws counts as a store that does not answer: repeated until the deadline. */
  encode(bytes: Uint8Array, context: ValueContext): Uint8Array | PromiseLike<Uint8Array>
  /** @throws anything: the value is there, and cannot be read now */
  decode(bytes: Uint8Array, context: ValueContext): Uint8Array | PromiseLike<Uint8Array>
  /**
   * Whether values that no codec has encoded are refused. Say so once there are none left: until then whoever can write
   * the table can put a value of his own in their place.
   * @defaultValue false
   */
  readonly refusesPlain?: boolean
}

/**
 * One codec, or several: the first encodes, and each decodes what lies there under its name.
 * @throws InvalidOptionError naming what was expected and what came
 */
export function codecsOption(value: ValueCodec | readonly ValueCodec[] | undefined): readonly ValueCodec[] {
  if (value === undefined) return []
  const codecs: readonly ValueCodec[] = Array.isArray(value) ? value : [value]
  for (const codec of codecs) checkCodec(codec)
  if (new Set(codecs.map(({ name }) => name)).size === codecs.length) return Object.freeze([...codecs])
  throw new InvalidOptionError('codec: two codecs have the same name, so that nobody knows which one wrote a value.')
}

function checkCodec(codec: ValueCodec): void {
  if (typeof codec !== 'object' || codec === null) {
    throw new InvalidOptionError(`codec must be { name, encode, decode }, or a list of these; got ${show(codec)}.`)
  }
  refuseUnknown('codec', codec, ['name', 'encode', 'decode', 'refusesPlain'])
  if (typeof codec.name !== 'string' || !/^[\w./-]{1,32}$/.test(codec.name)) {
    throw new InvalidOptionError(
      `codec.name must be 1 to 32 letters, digits, "_", ".", "/" or "-", such as "kms-1"; got ${show(codec.name)}.`,
    )
  }
  for (const method of ['encode', 'decode'] as const) {
    if (functionOption(`codec.${method}`, codec[method]) === undefined) {
      throw new InvalidOptionError(`codec.${method} must be a function; got undefined.`)
    }
  }
  if (codec.refusesPlain !== undefined && typeof codec.refusesPlain !== 'boolean') {
    throw new InvalidOptionError(`codec.refusesPlain must be true or false; got ${show(codec.refusesPlain)}.`)
  }
}
