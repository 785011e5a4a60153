import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type SqsEmulator, startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import {
  type QueuePoller,
  type QueuePollerOptions,
  startQueuePoller,
} from '../../infra/local/event-source-mapping/queue-poller.ts'
import type { InvocableFunction, InvocationResult } from '../../infra/local/lambda/invocation.ts'
import type { LocalQueue } from '../../infra/local/template/model.ts'

let emulator: SqsEmulator
let client: SQSClient
const pollers: QueuePoller[] = []
let queueNumber = 0

beforeAll(async () => {
  emulator = await startSqsEmulator()
  client = new SQSClient({ endpoint: emulator.endpoint })
})
afterEach(async () => {
  await Promise.all(pollers.splice(0).map((poller) => poller.stop()))
})
afterAll(() => emulator.stop())

async function createQueue(): Promise<LocalQueue> {
  queueNumber += 1
  const name = `poller-${queueNumber}`
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name }))
  return {
    logicalId: name,
    name,
    url: QueueUrl!,
    arn: `arn:aws:sqs:eu-central-1:000000000000:${name}`,
    visibilitySeconds: 30,
    redrive: undefined,
    attributes: {},
  }
}

/** A function that is only its answers; which process it runs in is no matter of the poller. */
function functionAnswering(
  answer: (event: SQSEvent) => unknown,
  timeoutSeconds = 5,
): { worker: InvocableFunction; events: SQSEvent[] } {
  const events: SQSEvent[] = []
  const worker = {
    definition: { timeoutSeconds },
    invoke: async (event: unknown): Promise<InvocationResult> => {
      events.push(event as SQSEvent)
      return { kind: 'returned', requestId: 'r', payload: answer(event as SQSEvent) }
    },
  } as InvocableFunction
  return { worker, events }
}

function poll(queue: LocalQueue, worker: InvocableFunction, options: Partial<QueuePollerOptions> = {}): QueuePoller {
  const mapping = {
    kind: 'queue' as const,
    logicalId: 'Mapping',
    queueArn: queue.arn,
    functionName: 'worker',
    batchSize: 10,
    windowSeconds: 0,
    reportsBatchItemFailures: true,
    maxConcurrency: 2,
    ...options.mapping,
  }
  const poller = startQueuePoller({ queue, worker, client, ...options, mapping })
  pollers.push(poller)
  return poller
}

async function left(queue: LocalQueue): Promise<number> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queue.url, AttributeNames: ['All'] }),
  )
  return Number(Attributes?.ApproximateNumberOfMessages) + Number(Attributes?.ApproximateNumberOfMessagesNotVisible)
}

const send = (queue: LocalQueue, MessageBody: string, more: object = {}) =>
  client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody, ...more }))

test('a message becomes a record in Lambda’s shape', async () => {
  const queue = await createQueue()
  const { MessageId } = await send(queue, 'grüße', {
    MessageAttributes: {
      text: { DataType: 'String', StringValue: 'é' },
      bytes: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 255]) },
    },
  })
  const { worker, events } = functionAnswering(() => null)
  poll(queue, worker)
  await expect.poll(() => events.length).toBe(1)
  expect(events[0]?.Records).toEqual([
    {
      messageId: MessageId,
      receiptHandle: expect.any(String),
      body: 'grüße',
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        SenderId: expect.any(String),
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
      },
      messageAttributes: {
        text: { stringValue: 'é', stringListValues: [], binaryListValues: [], dataType: 'String' },
        bytes: { binaryValue: 'AQL/', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
      },
      md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/),
      md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
      eventSource: 'aws:sqs',
      eventSourceARN: queue.arn,
      awsRegion: 'eu-central-1',
    },
  ])
})

test('successes are deleted, failures stay for their visibility timeout', async () => {
  const queue = await createQueue()
  await Promise.all(['good', 'bad', 'good'].map((body) => send(queue, body)))
  const { worker, events } = functionAnswering(({ Records }) => ({
    batchItemFailures: Records.filter(({ body }) => body === 'bad').map(({ messageId }) => ({
      itemIdentifier: messageId,
    })),
  }))
  poll(queue, worker)
  await expect.poll(() => left(queue)).toBe(1)
  expect(events.flatMap(({ Records }) => Records)).toHaveLength(3)
})

test('an unknown identifier keeps the whole batch', async () => {
  const queue = await createQueue()
  await send(queue, 'x')
  const { worker, events } = functionAnswering(() => ({ batchItemFailures: [{ itemIdentifier: 'unknown' }] }))
  const poller = poll(queue, worker)
  await expect.poll(() => events.length).toBe(1)
  await poller.stop()
  expect(await left(queue)).toBe(1)
})

test('a lost delete delivers a message again after its success, with a higher receive count', async () => {
  const queue = await createQueue()
  await send(queue, 'x')
  const { worker, events } = functionAnswering(() => null)
  poll(queue, worker, {
    afterSuccess: ({ Attributes }) => (Attributes?.ApproximateReceiveCount === '1' ? 'redeliver' : 'delete'),
  })
  await expect.poll(() => left(queue), { timeout: 10_000 }).toBe(0)
  const records = events.flatMap(({ Records }) => Records)
  expect(records.map(({ attributes }) => attributes.ApproximateReceiveCount)).toEqual(['1', '2'])
  expect(new Set(records.map(({ messageId }) => messageId)).size).toBe(1)
})

test('a message that somebody else was done with meanwhile cannot come again, and the polling goes on', async () => {
  const queue = await createQueue()
  await client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'late' }))
  const seen: string[] = []
  const worker = {
    definition: { timeoutSeconds: 5 },
    invoke: async (event: unknown): Promise<InvocationResult> => {
      for (const { body, receiptHandle } of (event as SQSEvent).Records) {
        seen.push(body)
        if (body !== 'late') continue
        await client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: receiptHandle }))
      }
      return { kind: 'returned', requestId: 'r', payload: { batchItemFailures: [] } }
    },
  } as InvocableFunction
  const poller = poll(queue, worker, { afterSuccess: ({ Body }) => (Body === 'late' ? 'redeliver' : 'delete') })
  await expect.poll(() => seen).toEqual(['late'])
  await client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'next' }))
  await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['late', 'next'])
  // Here a loop that has broken would be reported.
  await poller.stop()
})

test('a batching window gathers more than one receive can bring', async () => {
  const queue = await createQueue()
  await Promise.all(Array.from({ length: 25 }, (_, index) => send(queue, String(index))))
  const { worker, events } = functionAnswering(() => null)
  const mapping = { batchSize: 25, windowSeconds: 5, maxConcurrency: 1 } as QueuePollerOptions['mapping']
  poll(queue, worker, { mapping })
  await expect.poll(() => events.length, { timeout: 10_000 }).toBe(1)
  expect(events[0]?.Records).toHaveLength(25)
})

test('a batch is never larger than the batch size', async () => {
  const queue = await createQueue()
  await Promise.all(Array.from({ length: 7 }, (_, index) => send(queue, String(index))))
  const { worker, events } = functionAnswering(() => null)
  poll(queue, worker, { mapping: { batchSize: 3 } as QueuePollerOptions['mapping'] })
  await expect.poll(() => left(queue)).toBe(0)
  expect(events.every(({ Records }) => Records.length <= 3)).toBe(true)
})

test('a visibility in which the function could still be running is refused', async () => {
  const queue = await createQueue()
  const { worker } = functionAnswering(() => null)
  expect(() => poll(queue, worker, { visibilitySeconds: 6 })).toThrow(
    /at least the function's timeout \+ 2 s = 7, got 6/,
  )
})

test('a shorter visibility brings a failed message back sooner than the queue’s own would', async () => {
  const queue = await createQueue()
  await send(queue, 'x')
  const { worker, events } = functionAnswering(
    ({ Records }) =>
      Records[0]?.attributes.ApproximateReceiveCount === '1'
        ? { batchItemFailures: [{ itemIdentifier: Records[0].messageId }] }
        : null,
    1,
  )
  poll(queue, worker, { visibilitySeconds: 3 })
  await expect.poll(() => events.length, { timeout: 20_000 }).toBe(2)
})

test('a throttled batch is tried again without going back to the queue', async () => {
  const queue = await createQueue()
  await send(queue, 'x')
  const { worker, events } = functionAnswering(() => null)
  let throttles = 2
  const throttling = {
    ...worker,
    invoke: async (event: unknown): Promise<InvocationResult> =>
      throttles-- > 0 ? { kind: 'throttled' } : worker.invoke(event),
  }
  poll(queue, throttling)
  await expect.poll(() => left(queue)).toBe(0)
  expect(events[0]?.Records[0]?.attributes.ApproximateReceiveCount).toBe('1')
})

test('after maxReceiveCount deliveries a message goes to the dead-letter queue', async () => {
  const dead = await createQueue()
  queueNumber += 1
  const name = `poller-${queueNumber}`
  const { QueueUrl } = await client.send(
    new CreateQueueCommand({
      QueueName: name,
      Attributes: {
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 2 }),
        VisibilityTimeout: '0',
      },
    }),
  )
  const queue: LocalQueue = {
    ...dead,
    name,
    url: QueueUrl!,
    arn: dead.arn.replace(dead.name, name),
    visibilitySeconds: 1,
  }
  const { MessageId } = await send(queue, 'poison')
  const { worker, events } = functionAnswering(({ Records }) => ({
    batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
  }))
  poll(queue, worker)
  await expect.poll(() => left(dead), { timeout: 20_000 }).toBe(1)
  expect(events).toHaveLength(2)
  const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: dead.url }))
  expect(Messages?.map((message) => message.MessageId)).toEqual([MessageId])
})
