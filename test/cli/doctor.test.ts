import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CreateTableCommand, type DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type SqsEmulator, startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { clockFinding, offsetOf } from '../../lib/cli/doctor/clock.ts'
import { tableFindings } from '../../lib/cli/doctor/table.ts'
import { createTable, localClient } from '../stores/table.ts'
import { cliFor, onLoopback, runCli } from './set-up.ts'

let client: DynamoDBClient
let table: string

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  table = await createTable(client)
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: table,
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    }),
  )
})
afterAll(() => client.destroy())

/** An HTTP server on loopback that answers as `answer` says. */
async function serverOf(
  answer: (path: string) => readonly [status: number, body: string],
): Promise<Server & { url: string }> {
  const server = createServer((request, response) => {
    const [status, body] = answer(request.url ?? '')
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

type Found = { readonly id: string; readonly level: string; readonly text: string }
const levels = (findings: readonly Found[]) => Object.fromEntries(findings.map(({ id, level }) => [id, level]))

describe('the table', () => {
  test('is healthy when it is as the store needs it', async () => {
    const { code, answer } = await cliFor(inject('dynamoDbEndpoint'), table).json('doctor', '--reconciler')
    expect(code).toBe(0)
    expect(levels(answer.findings)).toMatchObject({
      keys: 'ok',
      ttl: 'ok',
      index: 'ok',
      stream: 'info',
      'permission: dynamodb:PutItem': 'ok',
      'permission: dynamodb:UpdateItem': 'ok',
      'permission: a transaction of PutItem and UpdateItem': 'ok',
      'permission: dynamodb:Query on the index "due"': 'ok',
      clock: 'ok',
    })
    expect(answer.isHealthy).toBe(true)
  })

  test('is not written by the trial of permissions', async () => {
    const { answer } = await cliFor(inject('dynamoDbEndpoint'), table).json('export', '--all')
    expect(answer).toBeUndefined()
  })

  test('is found to be another one’s, with a code of its own', async () => {
    const other = `other-${crypto.randomUUID()}`
    await client.send(
      new CreateTableCommand({
        TableName: other,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      }),
    )
    const cli = cliFor(inject('dynamoDbEndpoint'), other)
    const { code, stdout } = await cli.run('doctor', '--relay', '--reconciler')
    expect(code).toBe(9)
    expect(stdout).toMatch(
      /problem +keys +It has partition key id \(S\); lambda-once needs partition key pk \(S\), sort key sk \(S\)/,
    )
    expect(stdout).toMatch(/problem +stream +There is no stream: the relay sees no message/)
    const inspected = await cli.run('inspect', `orders#${'a'.repeat(43)}`)
    expect([inspected.code, inspected.stderr]).toEqual([6, expect.stringContaining('not a table of lambda-once')])
  })

  const sound = {
    table: {
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' as const },
        { AttributeName: 'sk', AttributeType: 'S' as const },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' as const },
        { AttributeName: 'sk', KeyType: 'RANGE' as const },
      ],
      DeletionProtectionEnabled: true,
    },
    ttl: { status: 'ENABLED', attribute: 'expiresAt' },
    pointInTimeRecovery: 'ENABLED',
  }
  const nothing = { relay: false, reconciler: false }

  test.each([
    ['ttl on another attribute', { ttl: { status: 'ENABLED', attribute: 'ttl' } }, 'ttl', 'problem'],
    ['ttl off', { ttl: { status: 'DISABLED' } }, 'ttl', 'problem'],
    ['ttl not to be asked for', { ttl: undefined }, 'ttl', 'skipped'],
    ['no recovery', { pointInTimeRecovery: 'DISABLED' }, 'point-in-time-recovery', 'warning'],
    ['replicas', { table: { ...sound.table, Replicas: [{ RegionName: 'eu-west-1' }] } }, 'regions', 'warning'],
    ['unprotected', { table: { ...sound.table, DeletionProtectionEnabled: false } }, 'deletion-protection', 'warning'],
  ])('%s', (_what, facts, id, level) => {
    expect(levels(tableFindings(sound, nothing))[id]).toBe('ok')
    expect(levels(tableFindings({ ...sound, ...facts }, nothing))[id]).toBe(level)
  })

  test('needs index and stream only where somebody works with them', () => {
    expect(levels(tableFindings(sound, nothing))).toMatchObject({ index: 'info', stream: 'info' })
    expect(levels(tableFindings(sound, { relay: true, reconciler: true }))).toMatchObject({
      index: 'problem',
      stream: 'problem',
    })
  })
})

describe('the clock', () => {
  const SERVER = 'Sun, 29 Nov 2026 20:00:00 GMT'
  const at = (seconds: number) => Date.UTC(2026, 10, 29, 20, 0, seconds)

  test.each([
    ['agrees', at(0), at(1), 'ok'],
    ['agrees as far as whole seconds tell', at(2), at(2), 'ok'],
    ['is ahead', at(10), at(10), 'problem'],
    ['is behind', at(-10), at(-9), 'problem'],
    ['is not known to be wrong when the answer took long', at(-10), at(10), 'ok'],
  ])('%s', (_what, sentAtMs, answeredAtMs, level) => {
    expect(clockFinding(offsetOf(SERVER, sentAtMs, answeredAtMs)).level).toBe(level)
  })

  test('cannot be compared with an answer without a time', () => {
    expect(clockFinding(offsetOf(undefined, 0, 0)).level).toBe('skipped')
  })
})

describe('what delivers', () => {
  let emulator: SqsEmulator
  let sqs: SQSClient
  let lambda: Server & { url: string }
  let queueUrl: string
  let queueArn: string
  let mapping: Record<string, unknown>
  let configuration: Record<string, unknown>

  beforeAll(async () => {
    emulator = await startSqsEmulator()
    sqs = new SQSClient({ endpoint: emulator.endpoint })
    const arnOf = async (QueueUrl: string) => {
      const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] })
      return (await sqs.send(command)).Attributes?.QueueArn ?? ''
    }
    const dead = (
      await sqs.send(new CreateQueueCommand({ QueueName: 'dead', Attributes: { MessageRetentionPeriod: '1209600' } }))
    ).QueueUrl!
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: await arnOf(dead), maxReceiveCount: 5 })
    const Attributes = { VisibilityTimeout: '180', MessageRetentionPeriod: '345600', RedrivePolicy }
    queueUrl = onLoopback((await sqs.send(new CreateQueueCommand({ QueueName: 'orders', Attributes }))).QueueUrl)
    queueArn = await arnOf(queueUrl)
    lambda = await serverOf((path) => {
      if (path.includes('/event-source-mappings')) return [200, JSON.stringify({ EventSourceMappings: [mapping] })]
      return [200, JSON.stringify(path.includes('/concurrency') ? {} : configuration)]
    })
  })
  afterAll(async () => {
    sqs.destroy()
    lambda.close()
    await emulator.stop()
  })

  async function doctor(...args: string[]) {
    const common = ['--endpoint', inject('dynamoDbEndpoint'), '--table', table, '--json']
    const env = { AWS_ENDPOINT_URL_LAMBDA: lambda.url, AWS_ENDPOINT_URL_SQS: emulator.endpoint }
    const { code, stdout, stderr } = await runCli(['doctor', ...args, ...common], { env })
    expect(stderr).toBe('')
    return { code, findings: (JSON.parse(stdout) as { findings: Found[] }).findings }
  }
  const deploy = (changes: { mapping?: object; configuration?: object } = {}) => {
    mapping = {
      EventSourceArn: queueArn,
      State: 'Enabled',
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ...changes.mapping,
    }
    configuration = {
      Timeout: 30,
      Environment: { Variables: { IDEMPOTENCY_TABLE: table, RETENTION_SECONDS: '1900000', SECRET: 'never shown' } },
      ...changes.configuration,
    }
  }

  test('keeps every rule', async () => {
    deploy()
    const { code, findings } = await doctor('--queue', queueUrl, '--function', 'worker')
    expect([code, levels(findings)]).toEqual([0, expect.objectContaining({ delivery: 'ok' })])
    expect(JSON.stringify(findings)).not.toContain('never shown')
  })

  test('has a retention that ends before the last redelivery', async () => {
    deploy()
    const { code, findings } = await doctor('--queue', queueUrl, '--retention-seconds', '86400')
    expect([code, levels(findings)]).toEqual([9, expect.objectContaining({ 'retention-below-redelivery': 'problem' })])
    expect(findings.find(({ id }) => id === 'retention-below-redelivery')?.text).toContain('for 1555200 s')
  })

  test('loses partial failures, and delivers again what is still worked on', async () => {
    deploy({ mapping: { FunctionResponseTypes: [] }, configuration: { Timeout: 300 } })
    const { code, findings } = await doctor('--queue', queueUrl, '--function', 'worker')
    expect(code).toBe(9)
    expect(levels(findings)).toMatchObject({
      'batch-item-failures-off': 'problem',
      'visibility-below-timeout': 'problem',
    })
  })

  test('is not connected, or works on another table', async () => {
    deploy({
      mapping: { EventSourceArn: 'arn:aws:sqs:eu-central-1:1:other' },
      configuration: { Environment: { Variables: { IDEMPOTENCY_TABLE: 'another' } } },
    })
    const { findings } = await doctor('--queue', queueUrl, '--function', 'worker')
    expect(levels(findings)).toMatchObject({ 'event-source': 'problem', 'function-table': 'problem' })
  })

  test('is a relay, which reads the stream as it has to', async () => {
    const stream = `arn:aws:dynamodb:eu-central-1:111122223333:table/${table}/stream/2026-01-01T00:00:00.000`
    const sound = {
      EventSourceArn: stream,
      StartingPosition: 'TRIM_HORIZON',
      MaximumRetryAttempts: 5,
      DestinationConfig: { OnFailure: { Destination: queueArn } },
      FilterCriteria: { Filters: [{ Pattern: '{}' }] },
    }
    deploy({ mapping: sound })
    expect(levels((await doctor('--function', 'relay')).findings)).toMatchObject({ relay: 'ok' })
    deploy({ mapping: { ...sound, MaximumRetryAttempts: -1, FilterCriteria: {} } })
    const { code, findings } = await doctor('--function', 'relay')
    expect(code).toBe(9)
    expect(levels(findings)).toMatchObject({ 'relay-stops-the-shard': 'problem', 'relay-misses-messages': 'problem' })
  })

  test('cannot be read: that is a finding, and the rest is still told', async () => {
    deploy()
    const { code, findings } = await doctor('--queue', `${queueUrl}-missing`)
    expect([code, levels(findings)]).toEqual([9, expect.objectContaining({ queue: 'problem', keys: 'ok' })])
  })
})

describe('what answers is not what was expected', () => {
  test.each([
    [
      'a refusal',
      7,
      400,
      {
        __type: 'com.amazon.coral.service#AccessDeniedException',
        message: 'not authorized to perform: dynamodb:GetItem',
      },
      'Your credentials may not do this',
    ],
    [
      'old credentials',
      7,
      400,
      { __type: 'com.amazonaws.dynamodb.v20120810#ExpiredTokenException', message: 'expired' },
      'AWS does not accept your credentials',
    ],
    [
      'throttling',
      8,
      400,
      { __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException', message: 'slow down' },
      'is busy',
    ],
    ['another service', 8, 200, 'hello', 'is not DynamoDB'],
  ])('%s: %i', async (_what, expected, status, body, sentence) => {
    const server = await serverOf(() => [status, typeof body === 'string' ? body : JSON.stringify(body)])
    const { code, stderr } = await cliFor(server.url, table).run('inspect', `orders#${'a'.repeat(43)}`)
    server.close()
    expect([code, stderr]).toEqual([expected, expect.stringContaining(sentence)])
    expect(stderr).not.toMatch(/^ +at /m)
  })
})
