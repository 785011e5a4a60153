import type { EventBridgeClient, PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import { detailWithIds } from '../event-detail.ts'
import type { OutgoingMessage, Route, SendResult } from '../outgoing.ts'
import { connector, notInstalled, type SdkClient } from '../sdk-client.ts'
import { resultOfEntry, unanswered } from '../send-failure.ts'

/** The size is the one that holds in every region. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html */
const MAX_EVENTS = 10
const MAX_BYTES = 262_144

/** What EventBridge itself says of a detail that is no JSON. */
const NO_DETAIL: SendResult = { kind: 'refused', reason: 'MalformedDetail' }

/** EventBridge. One call takes events for different buses. */
export function eventBusRoute(given: SdkClient | undefined): Route {
  const connect = connector(
    given,
    () => import('@aws-sdk/client-eventbridge').catch(notInstalled('@aws-sdk/client-eventbridge')),
    (sdk, settings): EventBridgeClient => new sdk.EventBridgeClient(settings),
  )
  return {
    maxMessages: MAX_EVENTS,
    maxBytes: MAX_BYTES,
    batchKey: () => 'events',
    async send(messages, signal) {
      const events = messages.map(eventOf)
      const Entries = events.filter((event) => event !== undefined)
      if (Entries.length === 0) return events.map(() => NO_DETAIL)
      const { client, sdk } = await connect()
      const command = new sdk.PutEventsCommand({ Entries })
      const answer = await client.send(command, signal && { abortSignal: signal })
      // The answers come in the order of the request, without ids.
      const answers = (answer.Entries ?? []).values()
      return events.map((event) => {
        if (event === undefined) return NO_DETAIL
        const { value } = answers.next()
        if (value?.EventId !== undefined) return { kind: 'sent' }
        if (value?.ErrorCode === undefined) return unanswered()
        return resultOfEntry({ code: value.ErrorCode, message: value.ErrorMessage, isSendersFault: undefined })
      })
    },
  }
}

function eventOf({ to, text, messageId, operationId }: OutgoingMessage): PutEventsRequestEntry | undefined {
  const Detail = detailWithIds(text, { idempotencyKey: messageId, operationId })
  if (Detail === undefined || !('eventBusName' in to)) return undefined
  return { EventBusName: to.eventBusName, Source: to.source, DetailType: to.detailType, Detail }
}
