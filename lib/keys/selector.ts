import type { KeyInput } from '../record/identity.ts'

/**
 * Finds the key in an event or a record; `undefined`: there is none.
 * @throws InvalidKeyError when there is one that cannot be a key
 */
export type KeySelector<E> = (event: E) => KeyInput
