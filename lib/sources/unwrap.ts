import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import type { Envelope } from './content.ts'

/** Options of a source whose records carry the messages of other services. */
export interface UnwrapOptions<T> {
  /**
   * The envelope to take off before a body is parsed: `snsNotification()`, `eventBridgeEvent()`, `s3Notification()`, or
   * one in another as in `snsNotification(s3Notification())`. The body is then what is inside, and the default key the
   * id that the inner service has given to it.
   * @defaultValue none: the body is the record's own text
   */
  readonly unwrap?: Envelope<T>
}

export function envelopeOption<T>({ unwrap }: UnwrapOptions<T>): Envelope<T> | undefined {
  if (unwrap === undefined || typeof unwrap?.open === 'function') return unwrap
  throw new InvalidOptionError(
    `unwrap must be an envelope, such as snsNotification() or s3Notification(); got ${show(unwrap)}.`,
  )
}
