import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SqsEmulator, startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { createSender, type OutgoingMessage, type Sender } from '../../lib/outbox/index.ts'
import { fakeClock } from '../core/fake-clock.ts'

let emulator: SqsEmulator
let sqs: SQSClient
let sender: Sender
const clock = fakeClock()

beforeAll(async () => {
  emulator = await startSqsEmulator()
  sqs = new SQSClient({ endpoint: emulator.endpoint })
  sender = createSender({ sqs, clock })
})
afterAll(() => emulator?.stop())

async function queue(suffix = ''): Promise<string> {
  const Attributes = suffix === '.fifo' ? { FifoQueue: 'true' } : {}
  const QueueName = `q-${crypto.randomUUID()}${suffix}`
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  return QueueUrl
}

async function receive(QueueUrl: string) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  )
  return Messages
}

/** Until the queue gives nothing more; this emulator gives one message of a group at a time. */
async function receiveAll(QueueUrl: string) {
  const { DeleteMessageCommand } = await import('@aws-sdk/client-sqs')
  const all = []
  for (;;) {
    const messages = await receive(QueueUrl)
    if (messages.length === 0) return all
    all.push(...messages)
    for (const { ReceiptHandle } of messages) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  }
}

function message(queueUrl: string, given: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return { messageId: 'm1', operationId: 'payments#1', to: { queueUrl }, text: 'hello', attributes: {}, ...given }
}

describe('a standard queue', () => {
  test('gets the text with the message’s id, its operation’s and its own attributes', async () => {
    const url = await queue()
    expect(await sender.send([message(url, { attributes: { tenant: 'a' } })])).toEqual([{ kind: 'sent' }])
    expect(await receive(url)).toMatchObject([
      {
        Body: 'hello',
        MessageAttributes: {
          'Idempotency-Key': { DataType: 'String', StringValue: 'm1' },
          'Operation-Id': { DataType: 'String', StringValue: 'payments#1' },
          tenant: { DataType: 'String', StringValue: 'a' },
        },
      },
    ])
  })

  test('gets the key of the request that is continued, not one of its own', async () => {
    const url = await queue()
    await sender.send([message(url, { attributes: { 'Idempotency-Key': 'order-1' } })])
    const [received] = await receive(url)
    expect(received?.MessageAttributes?.['Idempotency-Key']?.StringValue).toBe('order-1')
  })

  test('takes ten attributes: the operation’s id gives way, the key never', async () => {
    const url = await queue()
    const nine = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`a${index}`, 'x']))
    expect(await sender.send([message(url, { attributes: nine })])).toEqual([{ kind: 'sent' }])
    const [received] = await receive(url)
    expect(Object.keys(received?.MessageAttributes ?? {}).sort()).toEqual(['Idempotency-Key', ...Object.keys(nine)])
  })

  test('holds a message back until its time has come', async () => {
    const url = await queue()
    const inAMinute = { messageId: 'later', notBeforeMs: clock.now() + 60_000 }
    const due = { messageId: 'due', notBeforeMs: clock.now() - 60_000 }
    await sender.send([message(url, inAMinute), message(url, due)])
    const received = await receive(url)
    expect(received.map((one) => one.MessageAttributes?.['Idempotency-Key']?.StringValue)).toEqual(['due'])
  })

  test('gets more messages than one call takes, and larger ones, each once', async () => {
    const url = await queue()
    const many = Array.from({ length: 25 }, (_, index) =>
      message(url, { messageId: `m${index}`, text: 'x'.repeat(200_000) }),
    )
    expect(await sender.send(many)).toEqual(many.map(() => ({ kind: 'sent' })))
    const received = await receiveAll(url)
    const keys = received.map((one) => one.MessageAttributes?.['Idempotency-Key']?.StringValue)
    expect(keys.toSorted()).toEqual(many.map(({ messageId }) => messageId).toSorted())
  })

  test('that does not exist refuses every message, and takes none of another’s along', async () => {
    const url = await queue()
    const missing = url.replace(/[^/]*$/, 'nobody')
    const results = await sender.send([message(missing), message(url), message(missing, { messageId: 'm2' })])
    expect(results).toEqual([
      { kind: 'refused', reason: 'QueueDoesNotExist' },
      { kind: 'sent' },
      { kind: 'refused', reason: 'QueueDoesNotExist' },
    ])
    expect(await receive(url)).toHaveLength(1)
  })
})

describe('a FIFO queue', () => {
  test('drops the second sending of a message by its id, and keeps two messages with one text apart', async () => {
    const url = await queue('.fifo')
    const [first, second] = [message(url, { messageId: 'm1' }), message(url, { messageId: 'm2' })]
    await sender.send([first])
    await sender.send([first, second])
    const received = await receiveAll(url)
    expect(received.map(({ Attributes }) => Attributes)).toMatchObject([
      { MessageDeduplicationId: 'm1', MessageGroupId: 'payments#1' },
      { MessageDeduplicationId: 'm2', MessageGroupId: 'payments#1' },
    ])
  })

  test('gets the group that was asked for, and no delay, which it would refuse', async () => {
    const url = await queue('.fifo')
    const given = { groupId: 'account-7', notBeforeMs: clock.now() + 60_000 }
    expect(await sender.send([message(url, given)])).toEqual([{ kind: 'sent' }])
    expect(await receive(url)).toMatchObject([{ Attributes: { MessageGroupId: 'account-7' } }])
  })
})
