import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { CreateTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { findJava } from '../../infra/local/engines/java.ts'
import { type SqsEmulator, startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'

let sqs: SqsEmulator

beforeAll(async () => {
  sqs = await startSqsEmulator()
})
afterAll(() => sqs.stop())

test('the shared DynamoDB Local creates and lists a table', async () => {
  const client = new DynamoDBClient({ endpoint: inject('dynamoDbEndpoint') })
  await client.send(
    new CreateTableCommand({
      TableName: 'engines-test',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
  )
  expect((await client.send(new ListTablesCommand({}))).TableNames).toContain('engines-test')
})

test('the SQS emulator gives back what was sent', async () => {
  const client = new SQSClient({ endpoint: sqs.endpoint })
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'engines-test' }))
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }))
  const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }))
  expect(Messages?.map((message) => message.Body)).toEqual(['hello'])
})

test('an engine dies with the process that started it, even one killed with SIGKILL', async () => {
  const module = new URL('../../infra/local/engines/sqs-emulator.ts', import.meta.url).href
  const script = `import { startSqsEmulator } from '${module}'; console.log((await startSqsEmulator()).pid); setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: parent.stdout! }), 'line')
  const enginePid = Number(line)
  expect(isAlive(enginePid)).toBe(true)
  parent.kill('SIGKILL')
  await expect.poll(() => isAlive(enginePid), { timeout: 10_000 }).toBe(false)
})

test('a missing Java is answered with one sentence that says what to install', () => {
  const path = process.env.PATH
  process.env.PATH = '/nonexistent'
  try {
    const search = findJava({})
    expect(search.found).toBe(false)
    expect(search.found ? '' : search.reason).toMatch(/Java 17 or newer.*default-jre-headless/)
  } finally {
    process.env.PATH = path
  }
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
