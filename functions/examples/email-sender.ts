import * as v from 'valibot'
import { type BatchHandler, batchHandler, type RecordFailure } from '../../lib/batch/index.ts'
import type { Idempotency } from '../../lib/index.ts'

const MailSchema = v.object({
  /** Given by whoever wants it sent, before the first try to put it into the queue. */
  mailId: v.pipe(v.string(), v.nonEmpty()),
  to: v.pipe(v.string(), v.email()),
  subject: v.string(),
  text: v.string(),
})
const TextSchema = v.pipe(v.string(), v.parseJson(), MailSchema)

/** One mail to be sent. */
export type Mail = v.InferOutput<typeof MailSchema>

/**
 * What to do about a mail that was handed to the mail server, which never answered. The server knows no idempotency
 * keys, so nobody can tell whether it went out; one of the two has to be chosen.
 */
export type WhenUnsure =
  /** A newsletter: twice is better than never. */
  | 'send-again'
  /** A dunning letter: never twice; a person looks, and settles it. */
  | 'ask-a-person'

/** What {@link emailSender} works with. */
export interface EmailSenderOptions {
  readonly idempotency: Idempotency
  /** Resolves when the mail server has taken the mail. */
  readonly send: (mail: Mail) => Promise<void>
  readonly whenUnsure: WhenUnsure
  /** @defaultValue `console.error` */
  readonly onFailure?: (failure: RecordFailure) => void
}

/** The worker of a queue of mails. Everything before the sending may run any number of times; the sending is a step. */
export function emailSender({ idempotency, send, whenUnsure, ...more }: EmailSenderOptions): BatchHandler {
  return batchHandler(
    {
      idempotency,
      parse: (text: string) => v.parse(TextSchema, text),
      key: ({ body }: { readonly body: Mail }) => body.mailId,
      ...more,
    },
    ({ body }, operation) =>
      operation.step('send', () => send(body), { onUnknown: whenUnsure === 'ask-a-person' ? 'stop' : 'retry' }),
  )
}
