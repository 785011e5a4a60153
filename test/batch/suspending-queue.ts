import type { SendMessageBatchCommandInput } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import type { BatchRecord, ParsedBatchOptions } from '../../lib/batch/index.ts'
import { type IdempotencyOptions, type Operation, OUTBOX_PREFIX, type Store } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { createSender, dispatchOne } from '../../lib/outbox/index.ts'
import type { Condition } from '../../lib/record/store.ts'
import { type Fault, faultyStore } from '../core/faulty-store.ts'
import { type Body, setUp } from './set-up.ts'
import { event, message } from './sqs-event.ts'

export const QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/111122223333/payments'
const MAX_RECEIVES = 3
const VISIBILITY_MS = 30_000

interface Queued {
  readonly record: SQSRecord
  visibleAtMs: number
  receives: number
}

/** A consumer, its queue with a dead-letter queue after three receives, and the relay that sends what lies in the outbox. */
export function suspendingQueue({
  work,
  options = {},
  core = {},
}: {
  work: (operation: Operation, record: BatchRecord<Body>) => unknown
  options?: Partial<ParsedBatchOptions<Body>>
  core?: Partial<IdempotencyOptions>
}) {
  const memory = memoryStore()
  const faults = { commit: [] as Fault[], put: [] as Fault[], get: [] as Fault[] }
  const faulty = faultyStore(memory, faults)
  const conditions: Condition[] = []
  const store: Store = {
    ...faulty,
    put(record, condition) {
      conditions.push(condition)
      return faulty.put(record, condition)
    },
  }
  const consumer = setUp({
    options: { redrive: { queueUrl: QUEUE_URL }, ...options },
    core: { relay: true, random: () => 0.5, store, ...core },
    work: (_id, operation, record) => work(operation, record),
  })
  const { clock } = consumer
  const queue: Queued[] = []
  const dead: SQSRecord[] = []
  let sent = 0

  function send(record: SQSRecord, delaySeconds = 0): void {
    queue.push({ record, visibleAtMs: clock.now() + delaySeconds * 1000, receives: 0 })
  }

  const sqs = {
    config: {},
    async send({ input }: { input: SendMessageBatchCommandInput }) {
      const entries = input.Entries ?? []
      for (const { MessageBody = '', MessageAttributes = {}, DelaySeconds } of entries) {
        const attributes = Object.entries(MessageAttributes).map(([name, { StringValue = '' }]) => {
          return [name, { stringValue: StringValue, dataType: 'String' as const }]
        })
        if (attributes.length > 10) throw new Error('SQS takes ten attributes.')
        send(
          message(`sent-${++sent}`, { body: MessageBody, messageAttributes: Object.fromEntries(attributes) }),
          DelaySeconds,
        )
      }
      return { Successful: entries.map(({ Id }) => ({ Id })) }
    },
  }
  const sender = createSender({ sqs: sqs as never, clock })

  /** The relay: sends what is pending. */
  async function relay(): Promise<void> {
    for (const { id } of memory.records()) {
      for (const item of await memory.listBeside(id, OUTBOX_PREFIX)) {
        if (item.attributes.state === 'pending') await dispatchOne(memory, sender, { ...item, id }, { clock })
      }
    }
  }

  /** Receives what is visible, as one batch. Answers with what failed. */
  async function receive(): Promise<string[]> {
    const visible = queue.filter(({ visibleAtMs }) => visibleAtMs <= clock.now())
    if (visible.length === 0) return []
    const failed = await consumer.deliver(event(...visible.map(({ record }) => record)))
    for (const entry of visible) {
      const isFailed = failed.includes(entry.record.messageId)
      entry.receives++
      entry.visibleAtMs = clock.now() + VISIBILITY_MS
      if (isFailed && entry.receives >= MAX_RECEIVES) dead.push(entry.record)
      if (!isFailed || entry.receives >= MAX_RECEIVES) queue.splice(queue.indexOf(entry), 1)
    }
    return failed
  }

  /** Lets time pass to the next message, until the queue is empty. */
  async function drain(mostRounds = 200): Promise<string[]> {
    const failures: string[] = []
    for (let round = 0; round < mostRounds && queue.length > 0; round++) {
      const nextMs = Math.min(...queue.map(({ visibleAtMs }) => visibleAtMs))
      clock.advance(Math.max(0, nextMs - clock.now()))
      failures.push(...(await receive()))
      await relay()
    }
    return failures
  }

  return {
    ...consumer,
    memory,
    faults,
    /** What each claim has asked of the record that was there. */
    conditions,
    queue,
    dead,
    send,
    sender,
    relay,
    receive,
    drain,
    record: () => memory.records()[0],
    outbox: () => memory.listBeside(memory.records()[0]?.id ?? '', OUTBOX_PREFIX),
  }
}
