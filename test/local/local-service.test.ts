import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requireJava } from '../../infra/local/engines/java.ts'
import { type LocalService, startLocalService } from '../../infra/local/local-service.ts'
import { startProcesses } from '../../infra/local/platform/processes.ts'

// One function behind both the API and the queue of the fixture; it says what it was given.
const HANDLER = `
export const handler = async (event) => {
  console.log(JSON.stringify({ event: 'seen', bodies: event.Records?.map(({ body }) => body) }))
  if (event.Records) return null
  return { statusCode: 200, body: JSON.stringify({ claims: event.requestContext.authorizer.jwt.claims, table: process.env.T, queue: process.env.Q }) }
}`

let directory: string
let service: LocalService
const lines: string[] = []

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lambda-once-service-'))
  cpSync(fileURLToPath(new URL('./fixtures/assembly', import.meta.url)), directory, { recursive: true })
  const { files } = JSON.parse(readFileSync(join(directory, 'Service.assets.json'), 'utf8'))
  const [asset] = Object.values<{ source: { path: string } }>(files).filter(({ source }) =>
    source.path.startsWith('asset.'),
  )
  mkdirSync(join(directory, asset!.source.path))
  writeFileSync(join(directory, asset!.source.path, 'index.mjs'), HANDLER)
  service = await startLocalService({
    assemblyDirectory: directory,
    logDirectory: join(directory, 'logs'),
    platform: await startProcesses({ javaPath: requireJava() }),
    environmentOverrides: { X: 'overridden', ABSENT: 'ignored' },
    onLine: (_, line) => lines.push(line),
  })
})
afterAll(async () => {
  await service?.stop()
  rmSync(directory, { recursive: true })
})

test('a request goes through authorizer and function, with the names the template’s resources got', async () => {
  const token = await service.tokens.mint('alice', service.model.routes[0]!.authorizer!)
  const response = await fetch(`${service.apiEndpoint}/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await response.json()).toMatchObject({
    claims: { sub: 'alice', iss: 'https://issuer.example' },
    table: service.model.tables[0]!.name,
    queue: service.model.queues.find(({ redrive }) => redrive)!.url,
  })
})

test('a message goes through the event source mapping to the function', async () => {
  const queue = service.model.queues.find(({ redrive }) => redrive)!
  const client = new SQSClient({ endpoint: service.sqsEndpoint })
  await client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'hello' }))
  await expect.poll(() => lines, { timeout: 10_000 }).toContain('{"event":"seen","bodies":["hello"]}')
})
