import type { PublishBatchRequestEntry, SNSClient } from '@aws-sdk/client-sns'
import { isFifo, MESSAGE_KEY_ATTRIBUTE, OPERATION_ATTRIBUTE } from '../message.ts'
import type { OutgoingMessage, Route } from '../outgoing.ts'
import { connector, notInstalled, type SdkClient } from '../sdk-client.ts'
import { resultOfEntry, unanswered } from '../send-failure.ts'

/** https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html */
const MAX_MESSAGES = 10
const MAX_BYTES = 262_144

/** SNS, standard and FIFO. */
export function topicRoute(given: SdkClient | undefined): Route {
  const connect = connector(
    given,
    () => import('@aws-sdk/client-sns').catch(notInstalled('@aws-sdk/client-sns')),
    (sdk, settings): SNSClient => new sdk.SNSClient(settings),
  )
  return {
    maxMessages: MAX_MESSAGES,
    maxBytes: MAX_BYTES,
    batchKey: topicArnOf,
    async send(messages, signal) {
      const { client, sdk } = await connect()
      const [first] = messages
      const TopicArn = first && topicArnOf(first)
      const PublishBatchRequestEntries = messages.map(entryOf)
      const command = new sdk.PublishBatchCommand({ TopicArn, PublishBatchRequestEntries })
      const { Successful = [], Failed = [] } = await client.send(command, signal && { abortSignal: signal })
      return PublishBatchRequestEntries.map(({ Id }) => {
        if (Successful.some((entry) => entry.Id === Id)) return { kind: 'sent' }
        const failure = Failed.find((entry) => entry.Id === Id)
        if (failure === undefined) return unanswered()
        return resultOfEntry({ code: failure.Code, message: failure.Message, isSendersFault: failure.SenderFault })
      })
    },
  }
}

function topicArnOf({ to }: OutgoingMessage): string {
  return 'topicArn' in to ? to.topicArn : ''
}

function entryOf(message: OutgoingMessage, index: number): PublishBatchRequestEntry {
  const { messageId, operationId, to, text, attributes, groupId } = message
  const named = { [MESSAGE_KEY_ATTRIBUTE]: messageId, [OPERATION_ATTRIBUTE]: operationId, ...attributes }
  return {
    Id: String(index),
    Message: text,
    MessageAttributes: Object.fromEntries(
      Object.entries(named).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
    ),
    ...(isFifo(to)
      ? { MessageGroupId: groupId ?? operationId, MessageDeduplicationId: messageId }
      : groupId !== undefined && { MessageGroupId: groupId }),
  }
}
