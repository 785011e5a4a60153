import pLimit from 'p-limit'
import { systemClock } from '../base/clock.ts'
import { InvalidOptionError } from '../base/errors.ts'
import { integerOption, refuseUnknown, show } from '../base/guards.ts'
import type { Clock } from '../base/ports.ts'
import type { OutboxTarget } from '../operation/commit-plan.ts'
import type { OutgoingMessage, Route, SendResult } from './outgoing.ts'
import { clientOption, type SdkClient } from './sdk-client.ts'
import { resultOfError } from './send-failure.ts'
import { eventBusRoute } from './targets/event-bus.ts'
import { functionRoute } from './targets/function.ts'
import { queueRoute } from './targets/queue.ts'
import { topicRoute } from './targets/topic.ts'

/** Sends messages to where they are to go. */
export interface Sender {
  /**
   * Sends each message once and answers for each, in order. It never throws. Messages of one call may overtake each
   * other: those that must not are sent one call after another.
   * @param signal - aborted: nothing more is started, and what is on its way is given up
   */
  send(messages: readonly OutgoingMessage[], signal?: AbortSignal): Promise<readonly SendResult[]>
}

/**
 * Options of {@link createSender}. Each client is made when its first message comes, unless it is given: with 2 tries a
 * call, 1 s to connect and 3 s to answer. Its package has to be installed only then.
 */
export interface SenderOptions {
  /** A client of @aws-sdk/client-sqs. */
  readonly sqs?: SdkClient
  /** A client of @aws-sdk/client-sns. */
  readonly sns?: SdkClient
  /** A client of @aws-sdk/client-eventbridge. */
  readonly eventBridge?: SdkClient
  /** A client of @aws-sdk/client-lambda. */
  readonly lambda?: SdkClient
  /**
   * How many calls run at the same time.
   * @defaultValue 10
   */
  readonly concurrency?: number
  /** @defaultValue the system's clock */
  readonly clock?: Clock
}

/** The defaults of {@link SenderOptions}. */
export const SENDER_DEFAULTS: Readonly<{ concurrency: number }> = /* @__PURE__ */ Object.freeze({ concurrency: 10 })

const MAX_CONCURRENCY = 1_000
/** What a message has besides its text and attributes, at most: its ids, the names of things. */
const ENVELOPE_BYTES = 1_024

/**
 * A sender for SQS, SNS, EventBridge and asynchronous invocations. It keeps nothing of a message, so one serves any
 * number of relays and reconcilers.
 *
 * @throws InvalidOptionError when an option is wrong
 */
export function createSender(options: SenderOptions = {}): Sender {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(`createSender expects an options object; got ${show(options)}.`)
  }
  refuseUnknown('createSender', options, ['sqs', 'sns', 'eventBridge', 'lambda', 'concurrency', 'clock'])
  const concurrency =
    integerOption('concurrency', options.concurrency, 1, MAX_CONCURRENCY) ?? SENDER_DEFAULTS.concurrency
  const routes = {
    queue: queueRoute(clientOption('sqs', options.sqs, 'SQS'), options.clock ?? systemClock),
    topic: topicRoute(clientOption('sns', options.sns, 'SNS')),
    eventBus: eventBusRoute(clientOption('eventBridge', options.eventBridge, 'EventBridge')),
    function: functionRoute(clientOption('lambda', options.lambda, 'Lambda')),
  }

  return Object.freeze({
    async send(messages: readonly OutgoingMessage[], signal?: AbortSignal): Promise<readonly SendResult[]> {
      const limit = pLimit(concurrency)
      const results = new Map<OutgoingMessage, SendResult>()
      const calls = [...Map.groupBy(messages, ({ to }) => routes[kindOf(to)])].flatMap(([route, routed]) =>
        batchesOf(route, routed).map((batch) => ({ route, batch })),
      )
      await limit.map(calls, async ({ route, batch }) => {
        const answers = await sendBatch(route, batch, signal)
        for (const [index, message] of batch.entries()) {
          const answer = answers[index]
          if (answer !== undefined) results.set(message, answer)
        }
      })
      return messages.map((message) => results.get(message) ?? { kind: 'failed', error: signal?.reason })
    },
  })
}

async function sendBatch(
  route: Route,
  batch: readonly OutgoingMessage[],
  signal: AbortSignal | undefined,
): Promise<readonly SendResult[]> {
  if (signal?.aborted) return []
  try {
    return await route.send(batch, signal)
  } catch (error) {
    const result = resultOfError(error)
    if (result.kind !== 'refused' || batch.length === 1) return batch.map(() => result)
    // One of them may be why all were refused, and must not take the others along.
    const single: SendResult[] = []
    for (const message of batch) {
      single.push(...(await sendBatch(route, [message], signal)))
    }
    return single
  }
}

function batchesOf(route: Route, messages: readonly OutgoingMessage[]): readonly (readonly OutgoingMessage[])[] {
  return [...Map.groupBy(messages, (message) => route.batchKey(message)).values()].flatMap((group) => {
    const batches: OutgoingMessage[][] = []
    let bytes = 0
    for (const message of group) {
      const attributes = Object.entries(message.attributes).flat().join('')
      const more = Buffer.byteLength(message.text) + Buffer.byteLength(attributes) + ENVELOPE_BYTES
      const current = batches.at(-1)
      if (current !== undefined && current.length < route.maxMessages && bytes + more <= route.maxBytes) {
        current.push(message)
        bytes += more
      } else {
        batches.push([message])
        bytes = more
      }
    }
    return batches
  })
}

function kindOf(to: OutboxTarget): 'queue' | 'topic' | 'eventBus' | 'function' {
  if ('queueUrl' in to) return 'queue'
  if ('topicArn' in to) return 'topic'
  return 'eventBusName' in to ? 'eventBus' : 'function'
}
