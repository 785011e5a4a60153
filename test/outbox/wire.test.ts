import { createHash } from 'node:crypto'
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { LambdaClient } from '@aws-sdk/client-lambda'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { afterEach, describe, expect, test } from 'vitest'
import { createSender, type OutgoingMessage, type SenderOptions } from '../../lib/outbox/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { type Answer, type ScriptedServer, startScriptedServer } from '../retry/http-server.ts'

let server: ScriptedServer | undefined
afterEach(() => server?.stop())

const CLIENTS = {
  sqs: SQSClient,
  sns: SNSClient,
  eventBridge: EventBridgeClient,
  lambda: LambdaClient,
}

/** A sender whose service answers as the script says, without retries. */
async function senderTo(service: keyof typeof CLIENTS, script: Answer[], more: Partial<SenderOptions> = {}) {
  server = await startScriptedServer(script)
  const client = new CLIENTS[service]({ endpoint: server.url, maxAttempts: 1 })
  return { ...createSender({ [service]: client, ...more }), requests: server.requests }
}

const URL_1 = 'https://sqs.eu-central-1.amazonaws.com/111122223333/emails'
const TOPIC = 'arn:aws:sns:eu-central-1:111122223333:orders'

function message(given: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    messageId: 'm1',
    operationId: 'payments#1',
    to: { queueUrl: URL_1 },
    text: '{"n":1}',
    attributes: {},
    ...given,
  }
}

const json = (body: unknown, status = 200, headers = {}): Answer => ({ status, headers, body: JSON.stringify(body) })
const accepted = (Id: string, text = '{"n":1}') => ({
  Id,
  MessageId: crypto.randomUUID(),
  MD5OfMessageBody: createHash('md5').update(text).digest('hex'),
})

describe('SQS', () => {
  test('says of every message of a call what became of it', async () => {
    const { send } = await senderTo('sqs', [
      json({
        Successful: [accepted('0')],
        Failed: [
          { Id: '1', Code: 'InvalidMessageContents', SenderFault: true },
          { Id: '2', Code: 'InternalError', SenderFault: false, Message: 'later' },
          { Id: '3', Code: 'AWS.SimpleQueueService.UnsupportedOperation', SenderFault: true },
          { Id: '4', Code: 'KmsAccessDenied', SenderFault: true },
        ],
      }),
    ])
    const results = await send(Array.from({ length: 6 }, (_, index) => message({ messageId: `m${index}` })))
    expect(results).toMatchObject([
      { kind: 'sent' },
      { kind: 'refused', reason: 'InvalidMessageContents' },
      { kind: 'failed', error: { name: 'InternalError', message: 'later' } },
      { kind: 'refused', reason: 'AWS.SimpleQueueService.UnsupportedOperation' },
      { kind: 'failed', error: { name: 'KmsAccessDenied' } },
      { kind: 'failed', error: { message: expect.stringContaining('not said') } },
    ])
  })

  test('is asked to hold a message back for whole seconds, at most 15 minutes', async () => {
    const clock = fakeClock()
    const { send, requests } = await senderTo('sqs', [], { clock })
    const delays = [-5_000, 0, 1, 1_000, 60_001, 86_400_000]
    await send(delays.map((ms) => message({ notBeforeMs: clock.now() + ms })))
    const { Entries } = JSON.parse(requests[0]!.body)
    expect(Entries.map(({ DelaySeconds }: { DelaySeconds: number }) => DelaySeconds)).toEqual([0, 0, 1, 1, 61, 900])
  })

  test('gets at most ten messages a call, and no more than it takes together', async () => {
    const { send, requests } = await senderTo('sqs', [], { concurrency: 1 })
    const large = { text: 'x'.repeat(500_000), attributes: { a: 'x'.repeat(24_000) } }
    await send([...Array.from({ length: 11 }, () => message()), message(large), message(large), message(large)])
    expect(requests.map(({ body }) => JSON.parse(body).Entries.length)).toEqual([10, 2, 1, 1])
  })

  test('is asked again one by one when it refuses a whole call, so that one message takes none along', async () => {
    const tooLong = json({ __type: 'com.amazonaws.sqs#BatchRequestTooLong', message: 'too long' }, 400)
    const { send, requests } = await senderTo('sqs', [tooLong, json({ Successful: [accepted('0')] }), tooLong])
    expect(await send([message(), message({ messageId: 'm2' })])).toEqual([
      { kind: 'sent' },
      { kind: 'refused', reason: 'BatchRequestTooLong' },
    ])
    expect(requests.map(({ body }) => JSON.parse(body).Entries.length)).toEqual([2, 1, 1])
  })

  test.each([
    ['a missing permission', json({ __type: 'com.amazonaws.sqs#AccessDeniedException' }, 400)],
    ['credentials that ran out', json({ __type: 'com.amazon.coral.service#ExpiredTokenException' }, 403)],
    ['throttling', json({ __type: 'com.amazonaws.sqs#RequestThrottled' }, 400)],
    ['an error nobody knows', json({ __type: 'com.amazonaws.sqs#Odd' }, 400)],
    ['trouble of its own', json({}, 500)],
    ['an answer that is none', { status: 200, body: 'done' } as const],
    ['a connection that breaks', 'reset' as const],
  ])('may be asked later after %s', async (_name, answer) => {
    const { send, requests } = await senderTo('sqs', [answer])
    expect(await send([message(), message({ messageId: 'm2' })])).toMatchObject([
      { kind: 'failed' },
      { kind: 'failed' },
    ])
    expect(requests).toHaveLength(1)
  })

  test('is given up when the time is over, and not asked at all afterwards', async () => {
    const { send, requests } = await senderTo('sqs', ['hang'], { concurrency: 1 })
    const over = new AbortController()
    const sending = send([message(), message({ to: { queueUrl: `${URL_1}-2` } })], over.signal)
    await expect.poll(() => requests.length).toBe(1)
    over.abort(new Error('over'))
    expect(await sending).toMatchObject([{ kind: 'failed' }, { kind: 'failed', error: { message: 'over' } }])
    expect(requests).toHaveLength(1)
  })
})

describe('SNS', () => {
  const xml = (result: string): Answer => ({
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult>${result}</PublishBatchResult></PublishBatchResponse>`,
  })
  const entries = (body: string) => {
    const form = new URLSearchParams(body)
    const of = (index: number) => {
      const prefix = `PublishBatchRequestEntries.member.${index}.`
      return Object.fromEntries(
        [...form]
          .filter(([name]) => name.startsWith(prefix))
          .map(([name, value]) => [name.slice(prefix.length), value]),
      )
    }
    return { topic: form.get('TopicArn'), first: of(1), second: of(2) }
  }

  test('gets the text, the ids and the attributes, and says what became of each message', async () => {
    const { send, requests } = await senderTo('sns', [
      xml(
        '<Successful><member><Id>0</Id><MessageId>x</MessageId></member></Successful><Failed><member><Id>1</Id><Code>InvalidParameter</Code><SenderFault>true</SenderFault></member><member><Id>2</Id><Code>InternalError</Code><SenderFault>false</SenderFault></member></Failed>',
      ),
    ])
    const to = { topicArn: TOPIC }
    const results = await send([
      message({ to, attributes: { tenant: 'a' } }),
      message({ to, messageId: 'm2' }),
      message({ to, messageId: 'm3' }),
    ])
    expect(results).toMatchObject([
      { kind: 'sent' },
      { kind: 'refused', reason: 'InvalidParameter' },
      { kind: 'failed', error: { name: 'InternalError' } },
    ])
    expect(entries(requests[0]!.body)).toMatchObject({
      topic: TOPIC,
      first: {
        Message: '{"n":1}',
        'MessageAttributes.entry.1.Name': 'Idempotency-Key',
        'MessageAttributes.entry.1.Value.StringValue': 'm1',
        'MessageAttributes.entry.2.Name': 'Operation-Id',
        'MessageAttributes.entry.2.Value.StringValue': 'payments#1',
        'MessageAttributes.entry.3.Name': 'tenant',
        'MessageAttributes.entry.3.Value.StringValue': 'a',
      },
      second: { 'MessageAttributes.entry.1.Value.StringValue': 'm2' },
    })
    expect(entries(requests[0]!.body).first).not.toHaveProperty('MessageDeduplicationId')
  })

  test('deduplicates by the message’s id on a FIFO topic, and keeps its group', async () => {
    const { send, requests } = await senderTo('sns', [])
    const to = { topicArn: `${TOPIC}.fifo` }
    await send([message({ to }), message({ to, messageId: 'm2', groupId: 'g' })])
    expect(entries(requests[0]!.body)).toMatchObject({
      first: { MessageDeduplicationId: 'm1', MessageGroupId: 'payments#1' },
      second: { MessageDeduplicationId: 'm2', MessageGroupId: 'g' },
    })
  })

  test('refuses what goes to a topic that does not exist', async () => {
    const notFound: Answer = {
      status: 404,
      headers: { 'content-type': 'text/xml' },
      body: '<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>NotFound</Code><Message>Topic does not exist</Message></Error></ErrorResponse>',
    }
    const { send } = await senderTo('sns', [notFound])
    expect(await send([message({ to: { topicArn: TOPIC } })])).toEqual([
      { kind: 'refused', reason: 'NotFoundException' },
    ])
  })
})

describe('EventBridge', () => {
  const to = { eventBusName: 'orders', source: 'shop', detailType: 'OrderPaid' }

  test('gets the ids within the detail, events of all buses in one call, and what became of each in their order', async () => {
    const { send, requests } = await senderTo('eventBridge', [
      json({
        FailedEntryCount: 4,
        Entries: [
          { EventId: 'e' },
          { ErrorCode: 'MalformedDetail' },
          { ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' },
          { ErrorCode: 'NotAuthorizedForSourceException' },
        ],
      }),
    ])
    const results = await send([
      message({ to }),
      message({ to, text: 'no JSON' }),
      message({ to: { ...to, eventBusName: 'audit' } }),
      message({ to }),
      message({ to }),
      message({ to }),
    ])
    expect(results).toMatchObject([
      { kind: 'sent' },
      { kind: 'refused', reason: 'MalformedDetail' },
      { kind: 'refused', reason: 'MalformedDetail' },
      { kind: 'failed', error: { name: 'ThrottlingException', message: 'slow down' } },
      { kind: 'failed', error: { name: 'NotAuthorizedForSourceException' } },
      { kind: 'failed' },
    ])
    const { Entries } = JSON.parse(requests[0]!.body)
    expect(Entries).toHaveLength(5)
    expect(Entries.slice(0, 2)).toEqual([
      {
        EventBusName: 'orders',
        Source: 'shop',
        DetailType: 'OrderPaid',
        Detail: '{"n":1,"metadata":{"idempotencyKey":"m1","operationId":"payments#1"}}',
      },
      expect.objectContaining({ EventBusName: 'audit' }),
    ])
  })

  test('is not asked at all when there is no event among the messages', async () => {
    const { send, requests } = await senderTo('eventBridge', [])
    expect(await send([message({ to, text: '[]' })])).toEqual([{ kind: 'refused', reason: 'MalformedDetail' }])
    expect(requests).toEqual([])
  })
})

describe('Lambda', () => {
  test('is invoked asynchronously, with the text as the event, once a message', async () => {
    const taken: Answer = { status: 202 }
    const { send, requests } = await senderTo('lambda', [taken, taken], { concurrency: 1 })
    const to = { functionName: 'orders-api' }
    expect(await send([message({ to }), message({ to, text: '{"n":2}' })])).toEqual([
      { kind: 'sent' },
      { kind: 'sent' },
    ])
    expect(requests).toMatchObject([
      { method: 'POST', body: '{"n":1}', headers: { 'x-amz-invocation-type': 'Event' } },
      { method: 'POST', body: '{"n":2}' },
    ])
  })

  test.each([
    ['ResourceNotFoundException', 404, 'refused'],
    ['InvalidRequestContentException', 400, 'refused'],
    ['RequestTooLargeException', 413, 'refused'],
    ['TooManyRequestsException', 429, 'failed'],
    ['AccessDeniedException', 403, 'failed'],
    ['ResourceConflictException', 409, 'failed'],
    ['ServiceException', 500, 'failed'],
  ])('answers %s with %i: %s', async (name, status, kind) => {
    const { send } = await senderTo('lambda', [json({ Message: 'no' }, status, { 'x-amzn-errortype': name })])
    expect(await send([message({ to: { functionName: 'f' } })])).toMatchObject([{ kind }])
  })
})

test('a client of another service is refused', () => {
  expect(() => createSender({ sqs: new SNSClient({}) })).toThrow(
    'sqs must be a client of @aws-sdk/client-sqs; got one of SNS.',
  )
})
