import { marshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import { streamEventRecord } from '../../infra/local/event-source-mapping/stream-event.ts'
import type { StoredValue } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import {
  type OutboxEvent,
  type OutboxRelayOptions,
  type OutboxTarget,
  type OutgoingMessage,
  outboxRelay,
  type SendResult,
} from '../../lib/outbox/index.ts'
import { encodeValue } from '../../lib/outcome/codec.ts'
import { invocation } from '../batch/sqs-event.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { type Faults, faultyStore } from '../core/faulty-store.ts'

export const STREAM_ARN = 'arn:aws:dynamodb:eu-central-1:111122223333:table/operations/stream/2024-01-01T00:00:00.000'
export const QUEUE: OutboxTarget = { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/emails' }
export const FIFO_QUEUE: OutboxTarget = { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/ledger.fifo' }

/** An item of the outbox, as a commit leaves it. */
export interface Item {
  readonly id: string
  readonly sk: string
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface Given {
  readonly id?: string
  readonly token?: string
  readonly position?: number
  readonly text?: string
  readonly body?: StoredValue
  readonly attributes?: Record<string, unknown>
}

export async function itemOf(given: Given = {}): Promise<Item> {
  const { id = 'payments#1', token = 't1', position = 0, text = `${id}/${token}/${position}` } = given
  return {
    id,
    sk: `outbox#${token}#${String(position).padStart(3, '0')}`,
    attributes: {
      messageId: `${id}/${token}/${position}`,
      to: QUEUE,
      body: given.body ?? (await encodeValue(text)),
      position,
      createdAtMs: 1_700_000_000_000,
      state: 'pending',
      dueShard: 'payments#0',
      dueAtMs: 1_700_000_300_000,
      ...given.attributes,
    },
  }
}

/** What the stream says of a new item. */
export function inserted({ id, sk, attributes }: Item, sequenceNumber: string = nextNumber()): DynamoDBRecord {
  const Keys = marshall({ pk: id, sk })
  const NewImage = marshall({ pk: id, sk, ...attributes }, { removeUndefinedValues: true })
  return streamEventRecord(
    {
      eventID: crypto.randomUUID(),
      eventName: 'INSERT',
      dynamodb: { Keys, NewImage, SequenceNumber: sequenceNumber, StreamViewType: 'NEW_IMAGE' },
    },
    STREAM_ARN,
  )
}

let lastNumber = 100
function nextNumber(): string {
  lastNumber += 1
  return `${lastNumber}00000000001`
}

export function streamEvent(...Records: DynamoDBRecord[]): DynamoDBStreamEvent {
  return { Records }
}

export function failures({ batchItemFailures }: DynamoDBBatchResponse): string[] {
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
}

/** A relay over a store in memory and a sender that writes down what it is given. */
export function setUp({
  answer = () => ({ kind: 'sent' }),
  faults = {},
  options = {},
}: {
  answer?: (message: OutgoingMessage) => SendResult
  faults?: Faults
  options?: Partial<OutboxRelayOptions>
} = {}) {
  const memory = memoryStore()
  const store = faultyStore(memory, faults)
  const clock = fakeClock()
  const events: OutboxEvent[] = []
  /** Everything that was handed to the sender, call by call. */
  const calls: OutgoingMessage[][] = []
  const relay = outboxRelay({
    store,
    clock,
    observer: (event) => events.push(event),
    sender: {
      async send(messages) {
        calls.push([...messages])
        return messages.map(answer)
      },
    },
    ...options,
  })
  return {
    memory,
    store,
    clock,
    events,
    calls,
    sent: () => calls.flat().map(({ messageId }) => messageId),
    types: () => events.map(({ type }) => type),
    /** Puts items into the table, and answers what its stream says of them. */
    async put(...items: Item[]) {
      for (const item of items) await memory.putBeside(item.id, item)
      return streamEvent(...items.map((item) => inserted(item)))
    },
    async stateOf({ id, sk }: Item) {
      const [found] = await memory.listBeside(id, sk)
      return found?.attributes
    },
    deliver: async (event: DynamoDBStreamEvent, context = invocation()) => failures(await relay(event, context)),
    relay,
  }
}
