import type { RequestParts } from '../engine/request.ts'
import type { KeyInput } from '../record/identity.ts'

/** What a record carries: one operation is made of it. */
export interface Content {
  readonly text: string
  /** What is fingerprinted unless the options choose. Never what differs from one delivery or sending to the next. */
  readonly fingerprint: RequestParts['fingerprint']
  /**
   * What the envelope names it by; absent: no envelope does.
   * @throws InvalidKeyError when it names a key that cannot be one
   */
  readonly key?: () => KeyInput
}

/** What was found in a record or in a text. */
export type Opened =
  /** None: there is nothing to do, and nothing went wrong. */
  | { readonly kind: 'contents'; readonly contents: readonly Content[] }
  | { readonly kind: 'refused'; readonly message: string }

/** A form in which one service wraps what it passes on to another; its content is a `T`. */
export interface Envelope<T = unknown> {
  /** Takes the envelope off. Never throws. */
  open(text: string): Opened
  /** Reads the text of a content; what it throws says that there is none. */
  parse(text: string): T
}

/** A text without an envelope. */
export function bare(text: string): Opened {
  return { kind: 'contents', contents: [{ text, fingerprint: { text } }] }
}

/** One content. */
export function single(content: Content): Opened {
  return { kind: 'contents', contents: [content] }
}

/** What a reader makes of a text; one that is nested more deeply than the stack allows is refused. */
export function unlessTooDeep(open: () => Opened): Opened {
  try {
    return open()
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'refused', message: 'The body is nested too deeply to be read.' }
    throw error
  }
}
