import type { KeyInput, Scope } from '../core/identity.ts'

/** What a batch has to know of the event source its records come from. */
export interface Source<R> {
  /**
   * The records of an event, each one a copy: parsers among other middlewares replace bodies in place.
   * @throws InvalidEventError when the event is not of this source
   */
  records(event: unknown): readonly R[]
  /** What a failure of the record is reported under. `undefined`: it has nothing of the kind. */
  identifier(record: R): string | undefined
  /** Records of one group run one after another, in the order of the event. `undefined`: in any order. */
  group(record: R): string | undefined
  /** The payload, or `undefined` when there is none. */
  body(record: R): string | undefined
  /**
   * The default key.
   * @throws InvalidKeyError when the record names a key that cannot be one
   */
  key(record: R): KeyInput
  /** The default scope. */
  scope(record: R): Scope
}
