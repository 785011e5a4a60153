import type { Context } from 'aws-lambda'
import type { RequestParts } from '../engine/request.ts'
import type { KeyInput, Scope } from '../record/identity.ts'

/** Where the single events of a function come from. */
export interface EventSource<E> {
  /** As error messages name it. */
  readonly name: string
  /**
   * Whether the default key is the invocation's id, which Lambda keeps over its own retries of an asynchronous
   * invocation, and over nothing else.
   */
  readonly isInvocation: boolean
  /**
   * What the event says of itself; `undefined`: there is nothing to do in it.
   * @throws InvalidEventError when it is not of this source
   */
  read(event: unknown, context: Context): EventParts<E> | undefined
}

/** An event that was looked at, and the defaults of what is asked for by it. */
export interface EventParts<E> {
  /** The event itself: nothing of it is changed. */
  readonly event: E
  /** @throws InvalidKeyError when the event names a key that cannot be one */
  readonly key: () => KeyInput
  readonly scope: Scope
  readonly fingerprint: RequestParts['fingerprint']
}
