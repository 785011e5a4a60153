import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createTable, localClient } from '../stores/table.ts'
import { cliFor, idFor, NAMESPACE, operationsIn, runCli, SCOPE } from './set-up.ts'

const QUEUE = 'https://sqs.eu-central-1.amazonaws.com/111122223333/emails'
const SECRETS = /a stored answer|a receipt|a message|4242|charge-1/

let client: DynamoDBClient
let table: string
let cli: ReturnType<typeof cliFor>
let operations: ReturnType<typeof operationsIn>
const ids: Record<string, string> = {}

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  table = await createTable(client)
  cli = cliFor(inject('dynamoDbEndpoint'), table)
  operations = operationsIn(client, table)
  ids.running = await operations.running('running')
  ids.stale = await operations.stale('stale')
  ids.stopped = await operations.stopped('stopped')
  ids.completed = await operations.completed('completed')
  ids.failed = await operations.failed('failed')
  ids.retryable = await operations.retryable('retryable')
  ids.unknown = await operations.unknown('unknown')
  ids.waiting = await operations.waiting('waiting')
  ids.admission = await operations.admission('admission')
  ids.stuck = await operations.stuck('stuck', QUEUE)
  ids.committed = await operations.committed('committed', QUEUE)
})
afterAll(() => client.destroy())

describe('inspect', () => {
  test.each([
    ['running', 'running', 'its lease ends'],
    ['stale', 'stale', 'The next delivery takes over'],
    ['stopped', 'stopped', 'until an operator decides'],
    ['completed', 'completed', 'repetitions get the stored answer'],
    ['failed', 'failed', 'PermanentError (PERMANENT)'],
    ['retryable', 'retryable', 'to be continued by the next delivery'],
    ['unknown', 'unknown', 'Step "charge" was begun, and nobody knows whether it happened'],
    ['waiting', 'waiting', 'It waits for the bank until'],
    ['admission', 'taken', 'issue-invoice'],
    ['stuck', 'completed', 'stuck: QueueDoesNotExist'],
  ])('says of a %s operation how it stands, and shows no stored value', async (key, state, sentence) => {
    const { code, stdout, stderr } = await cli.run('inspect', ids[key]!)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')[0]).toBe(`${ids[key]}  ${state}`)
    expect(stdout).toContain(sentence)
    expect(stdout).not.toMatch(SECRETS)
    expect(stdout).not.toContain('\u001B')
  })

  test('names the command that helps', async () => {
    expect((await cli.run('inspect', ids.unknown!)).stdout).toContain(`lambda-once settle '${ids.unknown}' --value`)
    expect((await cli.run('inspect', ids.stuck!)).stdout).toContain(`lambda-once dispatch '${ids.stuck}'`)
    expect((await cli.run('inspect', ids.completed!)).stdout).not.toContain('What you can do')
  })

  test('finds an operation by namespace, scope and key', async () => {
    const { stdout } = await cli.run('inspect', '-n', NAMESPACE, '-s', SCOPE, '-k', 'completed')
    expect(stdout).toContain(ids.completed)
  })

  test('finds a key of several parts, which is not the text of it', async () => {
    const idempotency = operations.make()
    await idempotency.run({ key: ['a', 'b'], fingerprint: false }, () => 'listed')
    const listed = await cli.run('inspect', '-n', NAMESPACE, '-k', 'a', '-k', 'b', '--show-values')
    expect([listed.code, listed.stdout.includes('listed')]).toEqual([0, true])
    expect((await cli.run('inspect', '-n', NAMESPACE, '-k', '["a","b"]')).code).toBe(3)
  })

  test('shows values when asked to', async () => {
    const { stdout } = await cli.run('inspect', ids.completed!, '--show-values')
    expect(stdout).toContain('a stored answer')
    expect((await cli.run('inspect', ids.failed!, '--show-values')).stdout).toContain('the card 4242 was declined')
  })

  test('says a huge outcome by its size, and cuts it off where it is shown', async () => {
    const id = await operations.huge('huge')
    expect((await cli.run('inspect', id)).stdout).toMatch(/outcome +2\.0 MB, compressed, in 6 parts/)
    const shown = await cli.run('inspect', id, '--show-values')
    expect(shown.stdout.length).toBeLessThan(10_000)
    expect(shown.stdout).toMatch(/2,66\d,\d{3} more characters: --json gives all of it/)
    const { answer } = await cli.json('inspect', id, '--show-values')
    expect(answer.outcome.value.value).toHaveLength(2_666_668)
  })

  test('says that an outcome is lost whose parts are gone', async () => {
    const id = await operations.huge('lost')
    const outcome = (await operations.store.get(id))?.outcome
    const partsId = outcome?.value?.kind === 'parts' ? outcome.value.partsId : ''
    const Key = { pk: { S: `part#${partsId}#1` }, sk: { S: 'part' } }
    await client.send(new DeleteItemCommand({ TableName: table, Key }))
    expect((await cli.run('inspect', id, '--show-values')).stdout).toContain('LOST. 1 of 6 parts')
  })

  test('answers one JSON document, without the token that proves ownership', async () => {
    const { code, answer } = await cli.json('inspect', ids.stuck!)
    const record = await operations.store.get(ids.stuck!)
    expect(code).toBe(0)
    expect(answer).toMatchObject({
      id: ids.stuck,
      namespace: NAMESPACE,
      status: 'COMPLETED',
      standing: 'completed',
      attempt: 1,
      rev: 2,
      isCommitted: true,
      outcome: { kind: 'value', value: { stored: 'json', bytes: 6 } },
      receipts: [{ kind: 'confirmed', attempt: 1, value: { stored: 'json', bytes: 22 } }],
      messages: [{ state: 'stuck', stuckReason: 'QueueDoesNotExist', to: { queueUrl: QUEUE } }],
    })
    expect(JSON.stringify(answer)).not.toContain(record?.token)
    expect(JSON.stringify(answer)).not.toMatch(SECRETS)
  })

  test('does not let what is stored reach the terminal’s controls', async () => {
    const metadata = { note: 'red \u001B[31malert\u0007\u009B2J\nsecond line' }
    await operations.make().run({ key: 'controls', scope: SCOPE, fingerprint: false, metadata }, () => 1)
    const { stdout } = await cli.run('inspect', idFor('controls'))
    expect(stdout).toContain('red alert')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/)
  })

  test('colours only where it is asked for, and not when the reader wants none', async () => {
    const args = ['inspect', ids.unknown!, '--endpoint', inject('dynamoDbEndpoint'), '--table', table]
    expect((await runCli(args, { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001B[31munknown')
    expect((await runCli(args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain('\u001B')
  })
})

describe('list', () => {
  test('names what may need somebody when nothing else is asked for', async () => {
    const { code, answer } = await cli.json('list')
    expect(code).toBe(0)
    expect(answer.operations.map(({ id }: { id: string }) => id).sort()).toEqual(
      [ids.stale, ids.stopped, ids.unknown].sort(),
    )
    expect(answer.messages).toMatchObject([{ id: ids.stuck, trouble: 'stuck', stuckReason: 'QueueDoesNotExist' }])
    expect(answer.isComplete).toBe(true)
  })

  test.each([
    ['--stale', ['stale', 'stopped']],
    ['--waiting', ['waiting']],
    ['--failed', ['failed']],
    ['--unknown', ['unknown']],
    ['--retryable', ['retryable']],
    ['--running', ['running', 'admission']],
  ])('%s', async (option, keys) => {
    const { answer } = await cli.json('list', option, '-n', NAMESPACE)
    expect(answer.operations.map(({ id }: { id: string }) => id).sort()).toEqual(keys.map((key) => ids[key]).sort())
    expect(answer.messages).toEqual([])
  })

  test('is a table for people, with what it has read', async () => {
    const { stdout } = await cli.run('list')
    expect(stdout).toMatch(/^STATE +OPERATION +ATTEMPT +HOW IT STANDS\n/)
    expect(stdout).toMatch(/4 found items \(stale, unknown, stuck\); \d+ items read in the table\.\n$/)
  })

  test('says that nothing was found', async () => {
    expect((await cli.run('list', '-n', 'invoices')).stdout).toMatch(
      /^Nothing is stale, unknown, stuck; \d+ items read/,
    )
  })

  test('stops at its limit, and says so', async () => {
    expect((await cli.run('list', '--limit', '1')).stdout).toContain('stopped at --limit 1, there may be more')
    expect((await cli.json('list', '--limit', '1')).answer.isComplete).toBe(false)
  })

  test('--index finds what a reconciler could finish, and refuses what is not in it', async () => {
    const { answer } = await cli.json('list', '--index', '--stale', '--unknown', '--waiting', '--retryable')
    expect(answer.operations.map(({ id }: { id: string }) => id).sort()).toEqual(
      [ids.stale, ids.waiting, ids.retryable].sort(),
    )
    const refused = await cli.run('list', '--index', '--stuck')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('stuck is not in the index')])
  })
})

describe('history', () => {
  test('tells in order what is known, and that it is not everything', async () => {
    const { stdout } = await cli.run('history', ids.stuck!)
    const found = ['claimed for the first time', 'put into the outbox', 'refused by its target: QueueDoesNotExist']
    const places = found.map((text) => stdout.indexOf(text))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places.every((place) => place > 0)).toBe(true)
    expect(stdout).toContain('DynamoDB keeps the present, not the past')
  })

  test('says in JSON what is still to come', async () => {
    const { answer } = await cli.json('history', ids.unknown!)
    expect(answer).toMatchObject({ id: ids.unknown, attempt: 2, crashes: 0 })
    expect(answer.entries.map(({ what, isFuture }: { what: string; isFuture: boolean }) => [what, isFuture])).toEqual([
      ['claimed for the first time', false],
      ['step "charge" begun for the first time, no end recorded', false],
      ['last write: UNKNOWN, attempt 2', false],
    ])
  })
})

describe('receipts', () => {
  test('are there without the record, which they outlive', async () => {
    const id = await operations.committed('outlived', QUEUE)
    await client.send(new DeleteItemCommand({ TableName: table, Key: { pk: { S: id }, sk: { S: 'op' } } }))
    const { code, answer } = await cli.json('receipts', id, '--show-values')
    expect([code, answer.receipts]).toEqual([0, [expect.objectContaining({ kind: 'confirmed' })]])
    expect(answer.receipts[0].value.value).toEqual({ secret: 'a receipt' })
    expect((await cli.run('inspect', id)).stdout).toContain('Its record is gone')
  })

  test('are not shown unless asked for', async () => {
    expect((await cli.run('receipts', ids.committed!)).stdout).not.toMatch(SECRETS)
    expect((await cli.run('receipts', ids.failed!)).stdout).toBe(`${ids.failed} has no receipts.\n`)
  })
})

describe('export', () => {
  const lines = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test('writes one line each for record, receipt and message', async () => {
    const { code, stdout } = await cli.run('export', ids.stuck!)
    expect(code).toBe(0)
    expect(lines(stdout).map(({ type, id }) => [type, id])).toEqual([
      ['operation', ids.stuck],
      ['receipt', ids.stuck],
      ['message', ids.stuck],
    ])
    expect(stdout).not.toMatch(SECRETS)
  })

  test('--all writes every operation, and no pieces of values', async () => {
    const { stdout, stderr } = await cli.run('export', '--all', '-n', NAMESPACE)
    const found = lines(stdout)
    const operationIds = found.filter(({ type }) => type === 'operation').map(({ id }) => id)
    expect(operationIds).toEqual(expect.arrayContaining(Object.values(ids)))
    expect(new Set(found.map(({ type }) => type))).toEqual(new Set(['operation', 'receipt', 'message']))
    expect(stderr).toContain(`${found.length} lines`)
  })
})

describe('what cannot be done ends with a sentence and a code of its own', () => {
  const to = (...args: string[]) => runCli(args, { env: { IDEMPOTENCY_TABLE: table } })
  const local = () => ['--endpoint', inject('dynamoDbEndpoint')]

  test.each([
    ['no such operation', 3, () => ['inspect', idFor('never'), ...local()], 'There is no operation orders#'],
    ['no such key', 3, () => ['inspect', '-n', 'orders', '-k', 'x', ...local()], 'The scope is part of the name'],
    ['no such table', 6, () => ['list', '--table', 'nobody', ...local()], 'There is no table "nobody"'],
    ['endpoint down', 8, () => ['list', '--endpoint', 'http://127.0.0.1:9'], 'does not answer (ECONNREFUSED)'],
    ['endpoint in clear', 2, () => ['list', '--endpoint', 'http://example.com'], 'only on this machine'],
    ['endpoint no URL', 2, () => ['list', '--endpoint', 'localhost:8000'], '--endpoint must be a URL'],
    ['no id', 2, () => ['inspect', ...local()], 'Which operation?'],
    ['a bad id', 2, () => ['inspect', 'orders', ...local()], 'is no operation id'],
    ['id and key', 2, () => ['inspect', ids.stale!, '-k', 'a', ...local()], 'not by both'],
    ['an empty key', 2, () => ['inspect', '-n', 'orders', '-k', ' ', ...local()], '--key is empty'],
    ['a bad number', 2, () => ['list', '--limit', '0', ...local()], '--limit must be a whole number'],
    ['unknown option', 2, () => ['list', '--sale', ...local()], "unknown option '--sale'"],
    ['unknown command', 2, () => ['inspct'], "unknown command 'inspct'"],
    ['no command', 2, () => [], 'Usage: lambda-once'],
  ])('%s: %i', async (_what, expected, args, sentence) => {
    const { code, stdout, stderr } = await to(...args())
    expect([code, stdout]).toEqual([expected, ''])
    expect(stderr).toContain(sentence)
    expect(stderr).not.toMatch(/^ +at /m)
  })

  test('without a table', async () => {
    const { code, stderr } = await runCli(['list', ...local()], { env: { IDEMPOTENCY_TABLE: '' } })
    expect([code, stderr]).toEqual([2, 'error: Which table? Say --table <name>, or set IDEMPOTENCY_TABLE.\n'])
  })

  test('with --json the failure is JSON, too', async () => {
    const { code, stderr } = await cli.json('inspect', idFor('never'))
    expect(code).toBe(3)
    expect(JSON.parse(stderr)).toEqual({
      error: { code: 'notFound', exitCode: 3, message: expect.stringContaining('There is no operation') },
    })
  })

  test('with --json a misspelt option is one too', async () => {
    const { code, stdout, stderr } = await runCli(['list', '--stael', '--json', ...local()])
    expect([code, stdout]).toEqual([2, ''])
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'usage',
        exitCode: 2,
        message: expect.stringMatching(/^unknown option '--stael'\n\(Did you mean/),
      },
    })
  })

  test('--help and --version are no failures', async () => {
    expect((await to('--help')).code).toBe(0)
    expect((await to('inspect', '--help')).stdout).toContain('--show-values')
    expect((await to('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
