import { randomUUID } from 'node:crypto'
import type { SQSEvent, SQSRecord } from 'aws-lambda'
import { receivedAgain } from '../events/sqs.ts'
import { failedOf } from '../queue/verdict.ts'
import type { InvocationResult } from './invocation.ts'

/** The event, as it comes delivery by delivery. */
export interface Deliveries<E> {
  /** A copy for the next delivery: of all there is, or of what is left to be done. */
  next(what: 'all' | 'left'): E
  /** Notes how a delivery ended. */
  ended(event: E, result: InvocationResult): void
  /** Whether the source would deliver something again by itself. */
  readonly isLeft: boolean
}

/** A queue brings what failed; any other caller repeats its request. */
export function deliveriesOf<E>(event: E, nowMs: () => number, isSameToTheLetter: boolean): Deliveries<E> {
  if (isSqsEvent(event)) return queueDeliveries(event) as Deliveries<unknown> as Deliveries<E>
  let count = 0
  let isLeft = true
  return {
    next: () => {
      const copy = structuredClone(event)
      return count++ === 0 || isSameToTheLetter ? copy : asRepeated(copy, nowMs())
    },
    ended(_event, result) {
      isLeft = result.kind !== 'answered' || reportsFailures(result.answer)
    },
    get isLeft() {
      return isLeft
    },
  }
}

function queueDeliveries(event: SQSEvent): Deliveries<SQSEvent> {
  let received: readonly SQSRecord[] = event.Records
  const left = new Set(received.map(({ messageId }) => messageId))
  let count = 0
  return {
    next(what) {
      const isBrought = ({ messageId }: SQSRecord) => what === 'all' || left.has(messageId)
      if (count++ > 0) received = received.map((record) => (isBrought(record) ? receivedAgain(record) : record))
      return { Records: structuredClone(received.filter(isBrought)) }
    },
    ended({ Records }, result) {
      const failed = result.kind === 'died' ? Records : failedOf(Records, result)
      const failedIds = new Set(failed.map(({ messageId }) => messageId))
      // A copy that comes although its message was done, as a continuation does, comes again when it fails.
      for (const { messageId } of Records) {
        if (failedIds.has(messageId)) left.add(messageId)
        else left.delete(messageId)
      }
    },
    get isLeft() {
      return left.size > 0
    },
  }
}

/** A stream brings the batch again from the first failure on; what was done before is a repetition, which costs nothing. */
function reportsFailures(answer: unknown): boolean {
  const { batchItemFailures } = Object(answer) as { batchItemFailures?: unknown }
  return Array.isArray(batchItemFailures) && batchItemFailures.length > 0
}

function isSqsEvent(event: unknown): event is SQSEvent {
  const records: unknown = Object(event).Records
  return Array.isArray(records) && records.length > 0 && records.every((one) => Object(one).eventSource === 'aws:sqs')
}

/** A client's repetition is another request to the gateway: it comes under another id, at another time. */
function asRepeated<E>(event: E, nowMs: number): E {
  const context: unknown = Object(event).requestContext
  if (typeof context !== 'object' || context === null) return event
  const isoTime = new Date(nowMs).toISOString()
  const anew: Readonly<Record<string, unknown>> = {
    requestId: randomUUID(),
    extendedRequestId: randomUUID(),
    time: isoTime,
    requestTime: isoTime,
    timeEpoch: nowMs,
    requestTimeEpoch: nowMs,
  }
  const changed = Object.entries(anew).filter(([name]) => name in context)
  return { ...event, requestContext: { ...context, ...Object.fromEntries(changed) } }
}
