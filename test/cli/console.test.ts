import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { createTable, localClient } from '../stores/table.ts'
import { actNamed, clientOf, consoleOn, spawnConsole } from './console-set-up.ts'
import { operationsIn, runCli } from './set-up.ts'

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

async function start(settings: Parameters<typeof consoleOn>[2] = {}, name = table) {
  const console = await consoleOn(inject('dynamoDbEndpoint'), name, settings)
  ends.push(console.close)
  return { ...console, ...(await clientOf(console.url)) }
}

describe('the command', () => {
  test('serves a page that loads nothing from elsewhere, and ends when told to', async () => {
    const { url, end } = await spawnConsole('--endpoint', inject('dynamoDbEndpoint'), '--table', table)
    ends.push(end)
    const page = await fetch(url)
    const html = await page.text()
    const policy = page.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(html).not.toMatch(/https?:\/\/|<style|style=|<script(?! type="module" src)/)
    for (const [, file] of html.matchAll(/(?:src|href)="([\w.]+)"/g)) {
      const { status, headers } = await fetch(url + file)
      expect([file, status, headers.get('x-content-type-options')]).toEqual([file, 200, 'nosniff'])
    }
    expect(await end()).toBe(0)
  })

  test.each<[string, string[], number, RegExp]>([
    ['a table that is not there', ['--table', 'no-such-table'], 6, /There is no table "no-such-table" there\. Check/],
    ['no table', [], 2, /Which table\? Say --table/],
  ])('of %s says so at once, and what to do', async (_, args, code, message) => {
    const run = await runCli(['console', '--endpoint', inject('dynamoDbEndpoint'), ...args])
    expect([run.code, run.stderr]).toEqual([code, expect.stringMatching(message)])
    expect(run.stderr).not.toMatch(/\n\s+at /)
  })

  test('of an engine that does not answer says so at once', async () => {
    const run = await runCli(['console', '--endpoint', 'http://127.0.0.1:1', '--table', table])
    expect([run.code, run.stderr]).toEqual([8, expect.stringContaining('does not answer')])
  })
})

describe('what a page is told', () => {
  test('is how each operation stands, and what is known of its past, without stored values', async () => {
    const id = await operations.stuck('console-stuck', 'https://sqs.eu-central-1.amazonaws.com/1/q')
    const stale = await operations.stale('console-stale')
    const { view, one, about } = await start()
    const seen = await view()
    expect(seen.counts).toMatchObject({ stale: 1, stuck: 1 })
    expect(seen.rows.find((row) => row.id === stale)).toMatchObject({
      heading: 'stale',
      standing: { kind: 'stale' },
      story: [{ kind: 'claimed' }],
    })
    expect(seen.rows.find((row) => row.id === id)?.stuckMessages).toBe(1)
    const found = await one(id)
    expect(found).toMatchObject({ id, record: { status: 'COMPLETED' }, receipts: [{ kind: 'confirmed' }], acts: [] })
    expect(JSON.stringify([seen, found])).not.toMatch(/a receipt|a message/)
    const { token } = (await operations.store.get(stale)) ?? {}
    expect(JSON.stringify([seen, await one(stale), about])).not.toContain(token)
  })

  test('says what no table holds, and counts it where events tell', async () => {
    const plain = await start()
    expect(Object.keys((await plain.view()).series.counts)).toEqual(['claimed', 'taken-over'])
    const told = await start({ hasEvents: true })
    told.journal.add('orders#1', { kind: 'replayed', atMs: Date.now() })
    expect((await told.view()).series.counts.replayed?.at(-1)).toBe(1)
  })

  test('is narrowed by state, namespace and key; a key finds its operation only with its scope', async () => {
    const id = await operations.completed('console-key')
    await operations.failed('console-failed')
    const { view } = await start()
    const ids = async (query: Parameters<typeof view>[0]) => (await view(query)).rows.map((row) => row.id)
    expect(await ids({ find: 'console-key', scope: 'tenant-1' })).toEqual([id])
    expect(await ids({ find: 'console-key' })).toEqual([])
    expect(await ids({ find: id.slice(-12) })).toEqual([id])
    expect(await ids({ namespace: 'payments' })).toEqual([])
    expect(await ids({ state: 'completed', namespace: 'orders' })).toContain(id)
    expect((await view({ state: ['failed'] })).rows.every((row) => row.heading === 'failed')).toBe(true)
    expect((await view({ most: '1' })).rows).toHaveLength(1)
  })

  test('is a sentence when the table cannot be read, and what was read stays', async () => {
    const { view, tell, connection } = await start()
    const before = await view()
    connection.documents.middlewareStack.add(() => async () => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    })
    await tell('read', {})
    const after = await view()
    expect(after.problem).toMatch(/does not answer \(ECONNREFUSED\)\. Is it running/)
    expect(after.rows.length).toBe(before.rows.length)
  })
})

describe('one operation', () => {
  test('is found by its name, and missed with a sentence', async () => {
    const id = await operations.completed('console-name')
    const { ask } = await start()
    const name = { namespace: 'orders', scope: 'tenant-1', key: 'console-name' }
    expect((await ask(`operation?${new URLSearchParams(name)}`)).body.id).toBe(id)
    const missing = await ask(`operation?${new URLSearchParams({ ...name, key: 'none' })}`)
    expect([missing.status, missing.body.error]).toEqual([
      404,
      { code: 'notFound', message: expect.stringContaining('The scope is part of the name') },
    ])
    expect((await ask('operation?id=nonsense')).status).toBe(400)
  })

  test('of a huge outcome shows as much as a page can, and says where the rest is', async () => {
    const id = await operations.huge('console-huge')
    const { one } = await start({ showValues: true })
    const text = JSON.stringify(await one(id))
    expect(text.length).toBeLessThan(60_000)
    expect(text).toContain('more characters: `lambda-once inspect --show-values --json` gives all of it.')
  })

  test('shows its small outcome when asked for', async () => {
    const id = await operations.completed('console-value')
    const { one } = await start({ showValues: true })
    expect((await one(id)).record?.outcome?.value?.value).toEqual({ secret: 'a stored answer' })
  })
})

describe('a write', () => {
  test('is refused, and not offered, where the console only reads', async () => {
    const id = await operations.stopped('console-read-only')
    const { one, tell } = await start()
    expect((await one(id)).acts).toEqual([])
    const refused = await tell('act', { id, act: 'resume', shown: 'x' })
    expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('--allow-writes')])
    expect((await operations.store.get(id))?.rev).toBe(1)
  })

  test('is refused without the token that only the page has', async () => {
    const id = await operations.stopped('console-token')
    const { one, tell } = await start({ allowWrites: true })
    const { shown } = actNamed(await one(id), 'resume')
    expect((await tell('act', { id, act: 'resume', shown }, 'guessed')).status).toBe(404)
    expect((await operations.store.get(id))?.rev).toBe(1)
  })

  test('is on exactly what was shown, and refused once anybody has written it since', async () => {
    const id = await operations.stopped('console-fence')
    const { one, tell } = await start({ allowWrites: true })
    const { shown, meaning } = actNamed(await one(id), 'resume')
    expect(meaning[0]).toContain('Resuming says: ')
    const { status, leaseUntil, expiresAt, token, rev } = (await operations.store.get(id))!
    const renewed = { status, leaseUntil, expiresAt, updatedAtMs: Date.now() }
    await operations.store.update(id, renewed, { kind: 'seen', token, rev })
    const late = await tell('act', { id, act: 'resume', shown })
    expect([late.status, late.body.error.message]).toEqual([409, expect.stringContaining('changed since it was shown')])
    expect((await operations.store.get(id))?.status).toBe('IN_PROGRESS')
    const done = await tell('act', { id, act: 'resume', shown: actNamed(await one(id), 'resume').shown })
    expect([done.status, done.body.result]).toEqual([200, expect.stringContaining('may run again')])
    expect((await operations.store.get(id))?.status).toBe('RETRYABLE')
  })

  test('that releases recorded steps has to say so', async () => {
    const id = await operations.retryable('console-steps')
    const { one, tell } = await start({ allowWrites: true })
    const act = actNamed(await one(id), 'release')
    expect(act.insistence?.text).toContain('charge')
    const request = { id, act: 'release', shown: act.shown }
    expect((await tell('act', request)).body.error.message).toContain('It has recorded steps ("charge")')
    expect((await tell('act', { ...request, insists: true })).status).toBe(200)
    expect((await operations.store.get(id))?.status).toBe('RELEASED')
  })

  test('that settles takes a value or a reason, and nothing else', async () => {
    const id = await operations.unknown('console-settle')
    const { one, tell } = await start({ allowWrites: true })
    const { shown, retentionSeconds } = actNamed(await one(id), 'settle')
    const settle = (settlement: unknown) => tell('act', { id, act: 'settle', shown, settlement })
    expect((await settle(undefined)).body.error.message).toContain('Say what you have found out')
    expect((await settle({ kind: 'value', json: 'paid', retentionSeconds })).body.error.message).toContain('no JSON')
    expect((await settle({ kind: 'value', json: '"paid"', retentionSeconds: 0 })).status).toBe(400)
    expect((await settle({ kind: 'value', json: '"paid"', retentionSeconds })).body.result).toContain('completed')
    expect((await operations.store.get(id))?.status).toBe('COMPLETED')
  })

  test('that dispatches sends what is stuck, once', async () => {
    const id = await operations.stuck('console-dispatch', 'https://sqs.eu-central-1.amazonaws.com/1/q')
    const sent: string[] = []
    const sender = () => ({
      send: async (messages: readonly { messageId: string }[]) =>
        messages.map(({ messageId }) => {
          sent.push(messageId)
          return { kind: 'sent' as const }
        }),
    })
    const { one, tell } = await start({ allowWrites: true, sender: sender as never })
    const { shown, meaning } = actNamed(await one(id), 'dispatch')
    expect(meaning).toEqual([expect.stringContaining('sends 1 message as shown')])
    expect((await tell('act', { id, act: 'dispatch', shown })).body).toEqual({ result: 'Sent: 1 message.' })
    expect((await tell('act', { id, act: 'dispatch', shown })).body.error.message).toContain('changed since')
    expect(sent).toHaveLength(1)
  })
})

test('what is no request of the page is answered with a sentence', async () => {
  const { ask, tell, about } = await start({ allowWrites: true })
  const headers = { 'x-console-token': about.token }
  expect((await ask('act', { method: 'POST', headers, body: '{' })).body.error.message).toContain('no JSON')
  expect((await tell('act', null)).status).toBe(400)
  expect((await tell('demo', { action: 'send' })).body.error.message).toBe('There is no such button.')
  expect((await ask('elsewhere')).status).toBe(400)
  expect((await tell('act', { text: 'x'.repeat(2_000_000) })).status).toBe(400)
})
