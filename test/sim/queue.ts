import type { Context, SQSRecord } from 'aws-lambda'
import type { FailureReason } from '../../lib/batch/index.ts'
import type { Asker, Names } from './client.ts'
import { nextOfGroups, overtaken } from './fifo.ts'
import type { Order } from './recipes.ts'
import { QUEUE_URL, type World } from './world.ts'

interface Message {
  readonly messageId: string
  readonly order: Order
  /** In a FIFO queue, those of one scope. */
  readonly group: string
  readonly attributes: Readonly<Record<string, string>>
  visibleAtMs: number
  isDeleted: boolean
  receives: number
  /** Asking again brings nothing else. */
  isFinal: boolean
  /** It was not reported as failed, once. */
  isDone: boolean
}

const QUEUE_ARN = 'arn:aws:sqs:eu-central-1:111122223333:work'
/** Longer than any invocation, as it should be. */
const VISIBILITY_MS = 40_000

/** Within which time producers send a burst, in ms. */
const BURST_MS = 50
const LARGE_BATCH = 10
const VERY_LARGE_BATCH = 60

/** What producers see of the queue. */
export interface Queue {
  send(order: Order): Asker
  readonly isEmpty: boolean
}

/** A standard queue and its event source mapping: at least once, in any order, in batches. */
export function startQueue(world: World, { idOf, isAlone }: Names): Queue {
  const { scheduler, chance, plan, judge, subject, say } = world
  const messages: Message[] = []
  let sent = 0

  function enqueue(order: Order, attributes: Message['attributes'], delayMs: number): Message {
    const message: Message = {
      messageId: `m${++sent}`,
      order,
      group: order.scope,
      attributes,
      visibleAtMs: scheduler.nowMs + delayMs,
      isDeleted: false,
      receives: 0,
      isFinal: false,
      isDone: false,
    }
    messages.push(message)
    scheduler.after(delayMs + chance.between(1, 200), receive)
    // A standard queue delivers some messages twice.
    if (world.isStormy && !plan.isFifo && chance.happens(0.2))
      scheduler.after(delayMs + chance.between(1, 20_000), () => deliver([message]))
    return message
  }

  function receive(): void {
    const large = plan.isFlood ? VERY_LARGE_BATCH : LARGE_BATCH
    const most = plan.isBurst ? large : chance.between(1, 4)
    const batch = plan.isFifo ? nextOfGroups(messages, { nowMs: scheduler.nowMs, most, chance }) : anyVisible(most)
    if (batch.length > 0) deliver(batch)
  }

  function anyVisible(most: number): readonly Message[] {
    const visible = messages.filter(({ isDeleted, visibleAtMs }) => !isDeleted && visibleAtMs <= scheduler.nowMs)
    const first = visible.length > 1 ? chance.between(0, visible.length - 1) : 0
    return [...visible.slice(first), ...visible.slice(0, first)].slice(0, most)
  }

  function judgeOrder(messageId: string): void {
    const message = messages.find((one) => one.messageId === messageId)
    if (!plan.isFifo || message === undefined) return
    const isDealtWith = ({ isDone, isFinal, order }: Message) =>
      isDone || isFinal || judge.truthOf(idOf(order)).completions.length > 0
    const skipped = overtaken(messages, message, isDealtWith)
    if (skipped !== undefined) {
      judge.broken('order is kept within a group', `${messageId} runs before ${skipped.messageId} is done`)
    }
  }

  function deliver(batch: readonly Message[]): void {
    for (const message of batch) hide(message, VISIBILITY_MS)
    const remainingMs = plan.lease === 'deadline' ? chance.between(5_000, 20_000) : undefined
    const { process, idempotency, context } = world.spawn('worker', remainingMs)
    for (const message of batch) message.receives++
    say(`${process.name} receives ${batch.map(({ messageId, order }) => `${messageId} (${order.key})`).join(', ')}`)
    const handler = subject.batchHandler<Order>(
      {
        idempotency,
        key: ({ body }) => body.key,
        scope: ({ body }) => body.scope,
        onFailure: ({ why, error, record }) => {
          const message = batch.find(({ messageId }) => messageId === record.messageId)
          if (message !== undefined) judgeFailure(message, why)
          say(`${process.name}: failed, ${why} ${error instanceof Error ? error.message : ''}`)
          if (error instanceof TypeError || subject.isLambdaOnceError(error, 'INVALID_OPTION')) {
            judge.broken('no unexpected error', String((error as Error).stack))
          }
        },
        redrive: { queueUrl: QUEUE_URL },
        ...(plan.isFlood && { concurrency: VERY_LARGE_BATCH }),
      },
      (record, operation) => {
        judgeOrder(record.messageId)
        return world.work(process, operation, record.body)
      },
    )
    const records = batch.map((message) => recordOf(message, plan.isFifo, countOf(message)))
    handler({ Records: records }, (context ?? {}) as Context).then(
      ({ batchItemFailures }) => {
        process.end()
        const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
        for (const message of batch) if (!failed.has(message.messageId)) acknowledge(message)
        for (const message of batch) {
          if (!failed.has(message.messageId)) continue
          // Elsewhere it goes to the dead letters in the end, and lets those after it go on.
          if (plan.isFifo && message.isFinal) message.isDeleted = true
          else hide(message, chance.between(100, VISIBILITY_MS))
        }
      },
      (error: unknown) => {
        process.end()
        judge.broken('no unexpected error', String(error instanceof Error ? error.stack : error))
      },
    )
  }

  /** As the queue has it: a copy may not be counted, and receives count that never came to a function. */
  function countOf({ receives }: Message): number {
    return chance.happens(0.2) ? chance.pick([1, receives + 1]) : receives
  }

  function judgeFailure(message: Message, why: FailureReason): void {
    if (why === 'mismatch' && isAlone(message.order)) {
      judge.broken('no foreign answer', `${message.messageId}: a mismatch with itself`)
    }
    message.isFinal = why === 'mismatch' || why === 'failed-before' || (why === 'unknown' && world.isLeftUnknown)
  }

  function hide(message: Message, ms: number): void {
    message.visibleAtMs = scheduler.nowMs + ms
    scheduler.after(ms + 1, receive)
  }

  function acknowledge(message: Message): void {
    const truth = judge.truthOf(idOf(message.order))
    const isLeftTo = truth.wasSuspended || truth.completions.length > 0
    if (!isLeftTo)
      judge.broken('no lost message', `${message.messageId} was deleted, and ${message.order.key} is not done`)
    message.isDone = true
    // A deletion may be lost, too.
    if (world.isStormy && chance.happens(0.1)) return
    message.isDeleted = true
    say(`${message.messageId} is deleted`)
  }

  world.onQueued(({ text, attributes, messageId, operationId, notBeforeMs = 0 }) => {
    const own = {
      ...attributes,
      'Idempotency-Key': attributes['Idempotency-Key'] ?? messageId,
      'Operation-Id': operationId,
    }
    const delayMs = Math.min(900_000, Math.max(0, notBeforeMs - scheduler.nowMs))
    enqueue(JSON.parse(text) as Order, own, Math.ceil(delayMs / 1000) * 1000)
  })

  return {
    send(order) {
      const message = enqueue(order, {}, chance.between(0, plan.isBurst ? BURST_MS : 30_000))
      return {
        order,
        get isDone() {
          return message.isDeleted || message.isFinal
        },
      }
    },
    get isEmpty() {
      return messages.every(({ isDeleted, isFinal }) => isDeleted || isFinal)
    },
  }
}

function recordOf(
  { messageId, order, group, attributes, receives }: Message,
  isFifo: boolean,
  approximateCount: number,
): SQSRecord {
  return {
    messageId,
    receiptHandle: `${messageId}.${receives}`,
    body: JSON.stringify(order),
    attributes: {
      ApproximateReceiveCount: String(approximateCount),
      SentTimestamp: '0',
      SenderId: 'sim',
      ApproximateFirstReceiveTimestamp: '0',
      ...(isFifo && { MessageGroupId: group }),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, stringValue]) => [name, { stringValue, dataType: 'String' as const }]),
    ),
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: isFifo ? `${QUEUE_ARN}.fifo` : QUEUE_ARN,
    awsRegion: 'eu-central-1',
  }
}
