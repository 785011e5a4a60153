import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { createTable, localClient } from '../stores/table.ts'
import { operationsIn } from './set-up.ts'

const MAIN = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url))

let client: DynamoDBClient
let table: string
let operations: ReturnType<typeof operationsIn>
const ends: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  table = await createTable(client)
  operations = operationsIn(client, table)
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})
afterAll(() => client.destroy())

/** Starts the console as a process; answers its URL, and its exit code when it is told to end. */
async function start(...args: string[]) {
  const common = ['--endpoint', inject('dynamoDbEndpoint'), '--table', table]
  const child = spawn(process.execPath, [MAIN, 'console', ...args, ...common])
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const end = () => {
    child.kill('SIGTERM')
    return exited
  }
  ends.push(end)
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\S+/.exec(line)?.[0]
    if (url !== undefined) return { url, end }
  }
  throw new Error('the console ended without a URL')
}

async function ask(url: string, path: string, init: RequestInit = { headers: { 'x-lambda-once': '1' } }) {
  const response = await fetch(`${url}api/${path}`, init)
  // biome-ignore lint/suspicious/noExplicitAny: an assertion on the answer says what it expects of it
  return { status: response.status, body: (await response.json().catch(() => undefined)) as any }
}
const write = (id: string, act: string, rev: number) => `act?${new URLSearchParams({ id, act, rev: String(rev) })}`
const post: RequestInit = { method: 'POST', headers: { 'x-lambda-once': '1' } }

describe('console', () => {
  test('serves a page that loads nothing from elsewhere, and ends when told to', async () => {
    const { url, end } = await start()
    const page = await fetch(url)
    const html = await page.text()
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(html).not.toMatch(/https?:\/\//)
    for (const [, file] of html.matchAll(/(?:src|href)="([\w.]+)"/g)) {
      expect([file, (await fetch(url + file)).status]).toEqual([file, 200])
    }
    expect(await end()).toBe(0)
  })

  test('is for this machine and for whoever has its address only', async () => {
    const { url } = await start('--allow-writes')
    const { origin, port, pathname } = new URL(url)
    expect((await fetch(origin)).status).toBe(404)
    expect((await fetch(`${origin}/guessed/api/about`)).status).toBe(404)
    expect((await fetch(`${url}../package.json`)).status).toBe(404)
    expect((await fetch(`${url}%2e%2e%2fmain.ts`)).status).toBe(404)
    const rebound = await new Promise<number | undefined>((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: `${pathname}api/about`,
        headers: { host: `evil.example:${port}` },
      }
      request(options, ({ statusCode }) => resolve(statusCode))
        .on('error', reject)
        .end()
    })
    expect(rebound).toBe(404)
  })

  test('answers what is there, without stored values', async () => {
    const id = await operations.stuck('console-stuck', 'https://sqs.eu-central-1.amazonaws.com/1/q')
    const stale = await operations.stale('console-stale')
    const { url } = await start()
    const { body } = await ask(url, 'operations')
    expect(body.operations.map((operation: { id: string }) => operation.id)).toContain(stale)
    expect(body.sentences[stale]).toContain('Nobody is working on it')
    expect(body.messages).toMatchObject([{ id, trouble: 'stuck' }])
    const one = await ask(url, `operation?${new URLSearchParams({ id })}`)
    expect(one.body).toMatchObject({ id, record: { status: 'COMPLETED' }, receipts: [{ kind: 'confirmed' }], acts: [] })
    expect(JSON.stringify(one.body)).not.toMatch(/a receipt|a message/)
  })

  test('finds an operation by its key, and says when there is none', async () => {
    const id = await operations.completed('console-key')
    const { url } = await start()
    const name = { namespace: 'orders', scope: 'tenant-1', key: 'console-key' }
    expect((await ask(url, `operation?${new URLSearchParams(name)}`)).body.id).toBe(id)
    const missing = await ask(url, `operation?${new URLSearchParams({ ...name, key: 'none' })}`)
    expect([missing.status, missing.body.error.code]).toEqual([404, 'notFound'])
  })

  test('only reads, unless it was started to write', async () => {
    const id = await operations.stopped('console-read-only')
    const { url } = await start()
    const refused = await ask(url, write(id, 'resume', 1), post)
    expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('--allow-writes')])
    expect((await operations.store.get(id))?.rev).toBe(1)
  })

  test('writes only what was shown, and nothing for a page from elsewhere', async () => {
    const id = await operations.stopped('console-write')
    const { url } = await start('--allow-writes')
    const { acts } = (await ask(url, `operation?${new URLSearchParams({ id })}`)).body
    expect(acts).toMatchObject([
      { act: 'resume', rev: 1 },
      { act: 'release', rev: 1 },
    ])
    expect(acts[0].meaning[0]).toContain('Resuming says: ')
    expect((await ask(url, write(id, 'resume', 1), { method: 'POST' })).status).toBe(404)
    expect((await ask(url, write(id, 'resume', 7), post)).body.error.code).toBe('refused')
    expect((await operations.store.get(id))?.rev).toBe(1)
    const done = await ask(url, write(id, 'resume', 1), post)
    expect([done.status, done.body]).toEqual([
      200,
      { id, act: 'resume', result: expect.stringContaining('may run again') },
    ])
    expect((await operations.store.get(id))?.status).toBe('RETRYABLE')
  })
})
