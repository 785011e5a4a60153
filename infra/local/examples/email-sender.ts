import { emailSender, type Mail, type WhenUnsure } from '../../../functions/examples/email-sender.ts'
import { createIdempotency } from '../../../lib/index.ts'
import { redeliver, sqsEvent } from '../../../lib/testing/index.ts'
import type { Stage } from './stage.ts'

/** A mail server that takes a mail, and never says so. */
export async function playEmailSender({ store, clock, scene, saw }: Stage): Promise<void> {
  const worker = (namespace: string, whenUnsure: WhenUnsure) => {
    const idempotency = createIdempotency({ store, clock, namespace })
    const sent: string[] = []
    let losesAnswers = 0
    const handler = emailSender({
      idempotency,
      whenUnsure,
      onFailure: () => undefined,
      async send({ mailId }: Mail) {
        sent.push(mailId)
        if (losesAnswers > 0) {
          losesAnswers -= 1
          throw new Error('The mail server closed the connection.')
        }
      },
    })
    const deliver = (mailId: string, lost = 0) => {
      losesAnswers = lost
      const body = { mailId, to: 'ada@example.com', subject: 'Hello', text: 'Hello Ada.' }
      return redeliver(handler, sqsEvent({ body }), { maxReceiveCount: 3, clock })
    }
    return { idempotency, sent, deliver }
  }
  const queueScope = { scope: 'arn:aws:sqs:eu-central-1:111122223333:queue' }

  scene('A newsletter goes out, and its message is redriven a day later.')
  const newsletter = worker('newsletters', 'send-again')
  await newsletter.deliver('may/ada')
  await newsletter.deliver('may/ada')
  saw(`sent ${newsletter.sent.length} time`, newsletter.sent.length === 1)

  scene('The server takes the June issue and closes the connection. "send-again": twice is better than never.')
  const june = await newsletter.deliver('june/ada', 1)
  const juneCopies = newsletter.sent.filter((id) => id === 'june/ada').length
  saw(`sent ${juneCopies} times, dead letters: ${june.deadLetters.length}`, juneCopies === 2)

  scene('The same happens to a dunning letter. "ask-a-person": never twice.')
  const dunning = worker('dunning', 'ask-a-person')
  const letter = await dunning.deliver('invoice-7', 1)
  saw(
    `sent ${dunning.sent.length} time, dead letters: ${letter.deadLetters.length}`,
    dunning.sent.length === 1 && letter.deadLetters.length === 1,
  )

  scene('A person finds it in the outgoing mail, settles the operation, and redrives the dead letter.')
  const settled = await dunning.idempotency.settle({ key: 'invoice-7', ...queueScope }, { value: 'seen in the log' })
  const redriven = await dunning.deliver('invoice-7')
  saw(
    `${settled}; the redriven message is acknowledged: ${redriven.deadLetters.length === 0}; sent ${dunning.sent.length} time`,
    settled === 'settled' && redriven.deadLetters.length === 0 && dunning.sent.length === 1,
  )
}
