import { setTimeout as sleep } from 'node:timers/promises'
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  type Message,
  MessageNotInflight,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { InvocableFunction, InvocationResult } from '../lambda/invocation.ts'
import type { LocalQueue, LocalQueueMapping } from '../template/model.ts'
import { type BatchReport, type BatchVerdict, batchVerdict } from './batch-response.ts'
import { sqsEvent } from './sqs-event.ts'

// Lambda starts with five concurrent batches.
const DEFAULT_CONCURRENCY = 5
// Short, because stopping waits for open polls: the emulator loses a message for its visibility when a poll is aborted.
const POLL_SECONDS = 1
const RECEIVE_LIMIT = 10
const THROTTLE_BACKOFF_MS = 200

/** How far a received message must outlive the function that works on it, at least. */
export const VISIBILITY_MARGIN_SECONDS = 2

/** Options of {@link startQueuePoller}. */
export interface QueuePollerOptions {
  readonly mapping: LocalQueueMapping
  readonly queue: LocalQueue
  readonly worker: InvocableFunction
  readonly client: SQSClient
  /** Receives with this visibility instead of the queue's; at least the function's timeout + 2 s. */
  readonly visibilitySeconds?: number | undefined
  /** Asked about every message the function succeeded with: `redeliver` makes it visible again, as if its deletion had been lost. */
  readonly afterSuccess?: (message: Message, queue: LocalQueue) => 'delete' | 'redeliver'
  /** Hears of every batch and how it ended. */
  readonly onBatch?: (batch: BatchReport) => void
}

/** A running event source mapping of a queue. */
export interface QueuePoller {
  /** Takes no new batch and resolves when those in flight are done. */
  stop(): Promise<void>
}

/**
 * Polls a queue for a function as Lambda's event source mapping does.
 *
 * @throws RangeError when a message would become visible again while the function may still work on it.
 */
export function startQueuePoller(options: QueuePollerOptions): QueuePoller {
  const { mapping, queue, worker, client } = options
  const visibilitySeconds = options.visibilitySeconds ?? queue.visibilitySeconds
  const leastSeconds = worker.definition.timeoutSeconds + VISIBILITY_MARGIN_SECONDS
  if (options.visibilitySeconds !== undefined && !(visibilitySeconds >= leastSeconds)) {
    throw new RangeError(
      `visibilitySeconds must be at least the function's timeout + ${VISIBILITY_MARGIN_SECONDS} s = ${leastSeconds}, got ${visibilitySeconds}`,
    )
  }
  let stopped = false

  const receive = async (limit: number): Promise<Message[]> => {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queue.url,
        MaxNumberOfMessages: Math.min(RECEIVE_LIMIT, limit),
        WaitTimeSeconds: POLL_SECONDS,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
    )
    return Messages
  }

  const gather = async (): Promise<Message[]> => {
    const batch = await receive(mapping.batchSize)
    const windowEndsMs = Date.now() + mapping.windowSeconds * 1000
    while (batch.length > 0 && batch.length < mapping.batchSize && Date.now() < windowEndsMs && !stopped) {
      batch.push(...(await receive(mapping.batchSize - batch.length)))
    }
    return batch
  }

  const invoke = async (batch: readonly Message[]): Promise<InvocationResult> => {
    const event = sqsEvent(batch, mapping.queueArn)
    const giveUpMs = Date.now() + Math.max(0, visibilitySeconds - leastSeconds) * 1000
    for (;;) {
      const result = await worker.invoke(event)
      if (result.kind !== 'throttled' || stopped || Date.now() + THROTTLE_BACKOFF_MS > giveUpMs) return result
      await sleep(THROTTLE_BACKOFF_MS)
    }
  }

  const handle = async (batch: readonly Message[]): Promise<void> => {
    const ids = batch.map(({ MessageId = '' }) => MessageId)
    const verdict = batchVerdict(await invoke(batch), ids, mapping.reportsBatchItemFailures)
    const succeeded = batch.filter(({ MessageId = '' }) => isSuccess(verdict, MessageId))
    const again = succeeded.filter((message) => options.afterSuccess?.(message, queue) === 'redeliver')
    await acknowledge(succeeded.filter((message) => !again.includes(message)))
    for (const { ReceiptHandle } of again) await makeVisible(ReceiptHandle)
    options.onBatch?.({ source: queue.name, functionName: mapping.functionName, ids, verdict })
  }

  const makeVisible = async (ReceiptHandle: string | undefined): Promise<void> => {
    try {
      await client.send(
        new ChangeMessageVisibilityCommand({ QueueUrl: queue.url, ReceiptHandle, VisibilityTimeout: 0 }),
      )
    } catch (error) {
      // The batch took longer than its visibility (a cold start on a busy machine), so the message is visible by itself, or
      // somebody else has it, or is done with it.
      if (!(error instanceof MessageNotInflight)) throw error
    }
  }

  const acknowledge = async (messages: readonly Message[]): Promise<void> => {
    for (let start = 0; start < messages.length; start += RECEIVE_LIMIT) {
      const Entries = messages
        .slice(start, start + RECEIVE_LIMIT)
        .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
      const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: queue.url, Entries }))
      if (Failed.length > 0) throw new Error(`deleting from ${queue.name} failed: ${JSON.stringify(Failed)}`)
    }
  }

  const poll = async (): Promise<void> => {
    while (!stopped) {
      const batch = await gather()
      if (batch.length > 0) await handle(batch)
    }
  }

  const loops = Array.from({ length: mapping.maxConcurrency ?? DEFAULT_CONCURRENCY }, poll)
  const running = Promise.all(loops)
  // A loop that breaks is reported by stop(), not as an unhandled rejection somewhere else.
  running.catch(() => undefined)
  return Object.freeze({
    stop: async () => {
      stopped = true
      await running
    },
  })
}

function isSuccess(verdict: BatchVerdict, messageId: string): boolean {
  if (verdict.kind === 'some-failed') return !verdict.failedIds.has(messageId)
  return verdict.kind === 'all-succeeded'
}
