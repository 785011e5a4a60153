import { randomUUID } from 'node:crypto'
import { type Message, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { LocalServiceOptions } from '../local-service.ts'
import type { LocalQueue } from '../template/model.ts'
import type { Tally } from './tally.ts'

// Of so many messages of a FIFO queue one is sent again at the end, as a producer does that has lost its memory.
const LATE_EVERY = 8

/** What queues do to their consumers now and then, done on purpose. */
export interface Mischief {
  /** Every message comes again after its first success, as if its deletion had been lost, unless that would make it dead. */
  readonly afterSuccess: NonNullable<LocalServiceOptions['afterSuccess']>
  /** Sends every so-manieth message that a FIFO queue has delivered again, under new ids; answers how many. */
  sendLateUpdates(sqs: SQSClient, queue: LocalQueue): Promise<number>
}

/** Makes mischief, and counts it. */
export function createMischief(tally: Tally): Mischief {
  const lost = new Set<string>()
  const seen = new Map<string, Message[]>()
  return Object.freeze({
    afterSuccess: (message: Message, { name, redrive }: LocalQueue) => {
      const { MessageId = '', Attributes, MessageAttributes = {} } = message
      const [continuation, operation, key] = ['Continuation-Id', 'Operation-Id', 'Idempotency-Key'].map(
        (attribute) => MessageAttributes[attribute]?.StringValue,
      )
      const outboxId = continuation ?? (operation && key)
      if (outboxId !== undefined) tally.outboxMessageCame(outboxId, MessageId)
      const isLastDelivery = Number(Attributes?.ApproximateReceiveCount) >= (redrive?.maxReceiveCount ?? Infinity)
      if (lost.has(MessageId) || isLastDelivery) return 'delete'
      lost.add(MessageId)
      tally.deleteLost(name)
      seen.set(name, [...(seen.get(name) ?? []), message])
      return 'redeliver'
    },
    sendLateUpdates: async (sqs: SQSClient, { name, url }: LocalQueue) => {
      const late = (seen.get(name) ?? []).filter((_, index) => index % LATE_EVERY === 0)
      for (const { Body, Attributes } of late) {
        await sqs.send(
          new SendMessageCommand({
            QueueUrl: url,
            MessageBody: Body,
            MessageGroupId: Attributes?.MessageGroupId,
            MessageDeduplicationId: randomUUID(),
          }),
        )
      }
      return late.length
    },
  })
}
