import type { SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs'
import type { Clock } from '../../base/ports.ts'
import { isFifo, MESSAGE_KEY_ATTRIBUTE, OPERATION_ATTRIBUTE } from '../message.ts'
import type { OutgoingMessage, Route } from '../outgoing.ts'
import { connector, notInstalled, type SdkClient } from '../sdk-client.ts'
import { resultOfEntry, unanswered } from '../send-failure.ts'

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
const MAX_MESSAGES = 10
const MAX_BYTES = 1_048_576
const MAX_ATTRIBUTES = 10
const MAX_DELAY_SECONDS = 900

/** SQS, standard and FIFO. */
export function queueRoute(given: SdkClient | undefined, clock: Clock): Route {
  const connect = connector(
    given,
    () => import('@aws-sdk/client-sqs').catch(notInstalled('@aws-sdk/client-sqs')),
    (sdk, settings): SQSClient => new sdk.SQSClient(settings),
  )
  return {
    maxMessages: MAX_MESSAGES,
    maxBytes: MAX_BYTES,
    batchKey: queueUrlOf,
    async send(messages, signal) {
      const { client, sdk } = await connect()
      const [first] = messages
      const QueueUrl = first && queueUrlOf(first)
      const Entries = messages.map((message, index) => entryOf(message, index, clock.now()))
      const command = new sdk.SendMessageBatchCommand({ QueueUrl, Entries })
      const { Successful = [], Failed = [] } = await client.send(command, signal && { abortSignal: signal })
      return Entries.map(({ Id }) => {
        if (Successful.some((entry) => entry.Id === Id)) return { kind: 'sent' }
        const failure = Failed.find((entry) => entry.Id === Id)
        if (failure === undefined) return unanswered()
        return resultOfEntry({ code: failure.Code, message: failure.Message, isSendersFault: failure.SenderFault })
      })
    },
  }
}

function queueUrlOf({ to }: OutgoingMessage): string {
  return 'queueUrl' in to ? to.queueUrl : ''
}

function entryOf(message: OutgoingMessage, index: number, nowMs: number): SendMessageBatchRequestEntry {
  const { messageId, operationId, to, text, groupId, notBeforeMs = 0 } = message
  return {
    Id: String(index),
    MessageBody: text,
    MessageAttributes: attributesOf(message),
    ...(isFifo(to)
      ? { MessageGroupId: groupId ?? operationId, MessageDeduplicationId: messageId }
      : {
          ...(groupId !== undefined && { MessageGroupId: groupId }),
          // A FIFO queue has no delay per message, and refuses one.
          DelaySeconds: Math.min(Math.max(Math.ceil((notBeforeMs - nowMs) / 1000), 0), MAX_DELAY_SECONDS),
        }),
  }
}

/** The message's own attributes come first: what continues an operation carries the key it came with. */
function attributesOf({ messageId, operationId, attributes }: OutgoingMessage) {
  const all = { [MESSAGE_KEY_ATTRIBUTE]: messageId, ...attributes }
  // Ten is all a queue takes. The operation's id is for people; the key is what protects.
  const hasRoom = Object.keys(all).length < MAX_ATTRIBUTES
  const named = hasRoom ? { [OPERATION_ATTRIBUTE]: operationId, ...all } : all
  return Object.fromEntries(
    Object.entries(named).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
  )
}
