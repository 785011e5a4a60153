/** A sequence of deliveries and faults was found in which an effect happened too often, or not at all. */
export class NotIdempotentError extends Error {
  /** The effect that it is about. */
  readonly effect: string
  /** What happened, delivery by delivery, in words. */
  readonly sequence: readonly string[]

  constructor(message: string, found: { readonly effect: string; readonly sequence: readonly string[] }) {
    super(message)
    this.name = 'NotIdempotentError'
    this.effect = found.effect
    this.sequence = found.sequence
  }
}

/** Nothing can be said about the handler: it never ends, it fails by itself, or it has no effect that could be counted. */
export class UnverifiableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnverifiableError'
  }
}
