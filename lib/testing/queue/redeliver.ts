import type { Context, SQSEvent, SQSRecord } from 'aws-lambda'
import { InvalidOptionError } from '../../base/errors.ts'
import { functionOption, integerOption, refuseUnknown, secondsOption, show } from '../../base/guards.ts'
import { receivedAgain } from '../events/sqs.ts'
import type { FakeClock } from '../fake-clock.ts'
import { lambdaContext } from '../lambda-context.ts'
import { failedOf, type InvocationEnd } from './verdict.ts'

/** A handler of SQS events. A method, so that Middy's handlers, which ask for more in the context, are taken too. */
export type QueueHandler = { handle(event: SQSEvent, context: Context): unknown }['handle']

/** Options of {@link redeliver}. */
export interface RedeliverOptions {
  /**
   * How often a message is received at the most, before it goes to the dead-letter queue.
   * @defaultValue 5
   */
  readonly maxReceiveCount?: number
  /**
   * The clock of the handler: it is moved on by the visibility timeout between two deliveries.
   * @defaultValue none: time does not pass
   */
  readonly clock?: FakeClock
  /**
   * How long a message that failed stays hidden, in seconds.
   * @defaultValue 180
   */
  readonly visibilityTimeoutSeconds?: number
  /** Makes the context of an invocation. @defaultValue `lambdaContext({ clock })` */
  readonly context?: () => Context
}

/** One invocation of the handler. */
export type QueueDelivery = { readonly event: SQSEvent } & InvocationEnd

/** What came of the messages. */
export interface Redelivered {
  readonly deliveries: readonly QueueDelivery[]
  /** The messages that failed too often, as they were last received. */
  readonly deadLetters: readonly SQSRecord[]
}

/**
 * Delivers messages as SQS does: what the handler does not report as failed is deleted; what fails comes again, under
 * the same message id with another receipt and a higher count, until it is received too often and becomes a dead letter.
 *
 * @example
 * const { deliveries, deadLetters } = await redeliver(handler, sqsEvent({ body: order }), { maxReceiveCount: 3 })
 *
 * @throws InvalidOptionError when an argument is wrong. What the handler throws is part of the answer.
 */
export async function redeliver(
  handler: QueueHandler,
  event: SQSEvent,
  options: RedeliverOptions = {},
): Promise<Redelivered> {
  refuseUnknown('redeliver', options, ['maxReceiveCount', 'clock', 'visibilityTimeoutSeconds', 'context'])
  const maxReceiveCount = integerOption('maxReceiveCount', options.maxReceiveCount, 1, 1_000) ?? 5
  const hiddenSeconds = secondsOption('visibilityTimeoutSeconds', options.visibilityTimeoutSeconds, 0) ?? 180
  const { clock } = options
  const context = functionOption('context', options.context) ?? (() => lambdaContext(clock && { clock }))
  if (typeof handler !== 'function') {
    throw new InvalidOptionError(`redeliver(handler, event): handler must be a function; got ${show(handler)}.`)
  }
  if (!Array.isArray(event?.Records)) {
    throw new InvalidOptionError(`redeliver(handler, event): event must be one of sqsEvent(…); got ${show(event)}.`)
  }
  const deliveries: QueueDelivery[] = []
  const deadLetters: SQSRecord[] = []
  let records: readonly SQSRecord[] = event.Records
  while (records.length > 0) {
    const delivered: SQSEvent = { Records: structuredClone([...records]) }
    const end = await invoke(() => handler(delivered, context()))
    deliveries.push({ event: { Records: [...records] }, ...end })
    const failed = failedOf(records, end)
    const isSpent = ({ attributes }: SQSRecord) => Number(attributes.ApproximateReceiveCount) >= maxReceiveCount
    deadLetters.push(...failed.filter(isSpent))
    records = failed.filter((record) => !isSpent(record)).map(receivedAgain)
    clock?.advance(hiddenSeconds * 1000)
  }
  return { deliveries, deadLetters }
}

async function invoke(call: () => unknown): Promise<InvocationEnd> {
  try {
    return { kind: 'answered', answer: await call() }
  } catch (error) {
    return { kind: 'threw', error }
  }
}
