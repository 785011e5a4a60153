import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type SqsEmulator, startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { redriveShown } from '../../lib/cli/acts/redrive.ts'
import { releaseShown } from '../../lib/cli/acts/release.ts'
import { settleShown } from '../../lib/cli/acts/settle.ts'
import type { OperationRecord } from '../../lib/index.ts'
import { reconciler } from '../../lib/reconciler/index.ts'
import { createTable, localClient } from '../stores/table.ts'
import { cliFor, NAMESPACE, onLoopback, operationsIn, runCli, SCOPE } from './set-up.ts'

let client: DynamoDBClient
let sqs: SQSClient
let emulator: SqsEmulator
let queueUrl: string
let table: string
let cli: ReturnType<typeof cliFor>
let operations: ReturnType<typeof operationsIn>

beforeAll(async () => {
  client = localClient(inject('dynamoDbEndpoint'))
  table = await createTable(client)
  operations = operationsIn(client, table)
  emulator = await startSqsEmulator()
  cli = cliFor(inject('dynamoDbEndpoint'), table, { AWS_ENDPOINT_URL_SQS: emulator.endpoint })
  sqs = new SQSClient({ endpoint: emulator.endpoint })
  queueUrl = onLoopback((await sqs.send(new CreateQueueCommand({ QueueName: 'requests' }))).QueueUrl)
})
afterAll(async () => {
  client.destroy()
  sqs.destroy()
  await emulator.stop()
})

const name = (key: string) => ({ key, scope: SCOPE, fingerprint: false as const })
const stored = async (id: string): Promise<OperationRecord> => (await operations.store.get(id))!
const run = (key: string, work = () => 'ran' as unknown) => operations.make().run(name(key), work)

async function received(): Promise<string[]> {
  const command = new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 })
  return ((await sqs.send(command)).Messages ?? []).map(({ Body = '' }) => Body)
}

describe('without a yes nothing is written', () => {
  test.each(['resume', 'release', 'settle'])('%s says what it would mean, and ends', async (command) => {
    const id = await operations.stopped(`unconfirmed-${command}`)
    const before = await stored(id)
    const value = command === 'settle' ? ['--value', '1'] : []
    const { code, stdout, stderr } = await cli.run(command, id, ...value)
    expect([code, stdout]).toEqual([5, ''])
    expect(stderr).toMatch(/(Resuming|Releasing|Settling) says: /)
    expect(stderr).toContain(`${id}  attempt 1, rev 1`)
    expect(await stored(id)).toEqual(before)
  })

  test('with --json too, where stdout stays empty', async () => {
    const id = await operations.stopped('unconfirmed-json')
    const { code, answer, stderr } = await cli.json('resume', id)
    expect([code, answer]).toEqual([5, undefined])
    expect(JSON.parse(stderr).error.code).toBe('unconfirmed')
  })
})

describe('every write is on what was shown', () => {
  const changedSince = (write: (shown: OperationRecord) => Promise<void>) => async (key: string) => {
    const id = await operations.stale(key)
    const shown = await stored(id)
    await run(key)
    const before = await stored(id)
    await expect(write(shown)).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringContaining('has changed since'),
    })
    expect(await stored(id)).toEqual(before)
  }

  test('release', () => changedSince((shown) => releaseShown(operations.store, shown))('race-release'))
  test('resume', () =>
    changedSince((shown) => settleShown(operations.store, shown, { rerun: true }, {}))('race-resume'))
  test('settle', () => changedSince((shown) => settleShown(operations.store, shown, { value: 1 }, {}))('race-settle'))
  test('redrive, which sends nothing either', async () => {
    const sent: unknown[] = []
    const sender = {
      async send(messages: readonly unknown[]) {
        sent.push(...messages)
        return messages.map(() => ({ kind: 'sent' as const }))
      },
    }
    const redrive = { target: { queueUrl }, payload: { body: 'b', attributes: {} } }
    await changedSince((shown) =>
      redriveShown(operations.store, sender, {
        ...shown,
        redrive: { ...redrive, payload: { kind: 'text', text: '[1]' } },
      }),
    )('race-redrive')
    expect(sent).toEqual([])
  })

  test('--if-rev refuses what somebody has written since', async () => {
    const id = await operations.stopped('if-rev')
    const refused = await cli.run('resume', id, '--yes', '--if-rev', '7')
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('at rev 1, not at 7')])
    expect((await cli.run('resume', id, '--yes', '--if-rev', '1')).code).toBe(0)
  })
})

describe('resume', () => {
  test('lets an unknown operation run again, its finished steps kept', async () => {
    const id = await operations.unknown('resume-unknown')
    const { code, answer } = await cli.json('resume', id, '--yes')
    expect([code, answer]).toEqual([0, { id, result: 'resumed', fromRev: 5 }])
    expect((await run('resume-unknown')).value).toBe('ran')
  })

  test('ends a waiting', async () => {
    const id = await operations.waiting('resume-waiting')
    expect((await cli.run('resume', id, '--yes')).stdout).toContain('It may run again.')
    expect((await stored(id)).status).toBe('RETRYABLE')
  })

  test('leaves it to a reconciler, whatever its number of shards', async () => {
    const id = await operations.unknown('resume-reconciled')
    await cli.run('resume', id, '--yes')
    const later = { now: () => Date.now() + 3_600_000, wait: async () => undefined }
    const recovered: string[] = []
    const idempotency = operations.make({ clock: later, reconcilerShards: 4 })
    await reconciler({ idempotency, recover: (operation) => recovered.push(operation.id) })()
    expect(recovered).toContain(id)
  })
})

describe('settle', () => {
  test('with a value: repetitions get it, and nothing runs', async () => {
    const id = await operations.unknown('settle-value')
    const { code, stdout } = await cli.run('settle', id, '--value', '{"paid":true}', '--yes')
    expect([code, stdout]).toEqual([0, expect.stringContaining('It is completed.')])
    expect(await run('settle-value')).toMatchObject({ value: { paid: true }, replayed: true })
  })

  test('with a value from stdin, kept as long as was said', async () => {
    const id = await operations.stopped('settle-stdin')
    const args = ['settle', id, '--value-file', '-', '--retention-seconds', '600', '--yes']
    const { code } = await runCli([...args, '--endpoint', inject('dynamoDbEndpoint'), '--table', table], {
      input: '"paid"',
    })
    expect(code).toBe(0)
    expect((await run('settle-stdin')).value).toBe('paid')
    const { expiresAt = 0, updatedAtMs } = await stored(id)
    expect(expiresAt).toBe(Math.ceil(updatedAtMs / 1000 + 600))
  })

  test('with an error: repetitions get that', async () => {
    const id = await operations.unknown('settle-error')
    await cli.run('settle', id, '--error', 'the bank says no', '--error-name', 'Declined', '--yes')
    await expect(run('settle-error')).rejects.toThrow('Declined: the bank says no')
  })

  test.each([
    ['nothing', [], 'exactly one of --value'],
    ['two', ['--value', '1', '--error', 'x'], 'exactly one of --value'],
    ['no JSON', ['--value', 'paid'], 'The value is no JSON'],
    ['no file', ['--value-file', '/nowhere'], '--value-file /nowhere cannot be read (ENOENT)'],
  ])('refuses %s', async (_what, args, sentence) => {
    const { code, stderr } = await cli.run('settle', `orders#${'a'.repeat(43)}`, ...args, '--yes')
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  })
})

describe('release', () => {
  test('forgets a failure, so that a repetition runs, with a fence behind the old one', async () => {
    const id = await operations.failed('release-failed')
    const before = await stored(id)
    expect((await cli.run('release', id, '--yes')).code).toBe(0)
    expect((await run('release-failed')).value).toBe('ran')
    expect((await stored(id)).createdAtMs).toBeGreaterThan(before.createdAtMs)
  })

  test('warns of a message that was to continue it', async () => {
    const id = await operations.stopped('release-continued')
    const { token, rev } = await stored(id)
    const change = { status: 'WAITING', leaseUntil: undefined, expiresAt: undefined, updatedAtMs: Date.now() } as const
    const continuation = { id: 'c', dueAtMs: Date.now() + 60_000 }
    await operations.store.update(id, { ...change, continuation }, { kind: 'seen', token, rev })
    expect((await cli.run('release', id)).stderr).toContain('it begins the operation anew')
  })

  test('keeps recorded steps unless told to forget them', async () => {
    const id = await operations.retryable('release-steps')
    const refused = await cli.run('release', id, '--yes')
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('recorded steps ("charge")')])
    expect((await cli.run('release', id, '--yes', '--forget-steps')).code).toBe(0)
    expect((await stored(id)).status).toBe('RELEASED')
  })

  test('gives an admission key back only when its holder is known to be gone', async () => {
    const id = await operations.admission('release-admission')
    expect((await cli.run('release', id, '--yes')).code).toBe(4)
    expect((await cli.run('release', id, '--yes', '--holder-is-gone')).code).toBe(0)
    const again = await operations.make().acquire({ key: 'release-admission', scope: SCOPE }, { ttlSeconds: 60 })
    expect(again.admitted).toBe(true)
  })
})

describe('what its state does not allow', () => {
  test.each([
    ['resume', 'running', 'It is running'],
    ['release', 'running', 'It is running'],
    ['release', 'completed', 'A stored outcome never changes'],
    ['settle', 'failed', 'A stored outcome never changes'.toLowerCase()],
    ['redrive', 'waiting', 'No request is stored with it'],
  ] as const)('%s of a %s operation is refused, and nothing written', async (command, state, sentence) => {
    const id = await operations[state](`refused-${command}-${state}`)
    const before = await stored(id)
    const { code, stderr } = await cli.run(command, id, '--yes', ...(command === 'settle' ? ['--value', '1'] : []))
    expect([code, stderr]).toEqual([4, expect.stringMatching(new RegExp(sentence, 'i'))])
    expect(await stored(id)).toEqual(before)
  })
})

describe('redrive', () => {
  const request = (body: string) => ({
    target: { queueUrl },
    payload: { body, attributes: {} },
    atClaim: true,
  })

  test('sends the stored request, and leaves the operation to its delivery', async () => {
    const id = await operations.stale('redrive', request('{"orderId":7}'))
    const { code, stdout } = await cli.run('redrive', id, '--yes')
    expect([code, stdout]).toEqual([0, `Its request is on its way to ${queueUrl}.\n`])
    expect(await received()).toEqual(['{"orderId":7}'])
    expect(await stored(id)).toMatchObject({ status: 'RETRYABLE', crashes: 1 })
    expect((await run('redrive')).value).toBe('ran')
  })

  test('says so when its target refuses it, and leaves the operation as it was', async () => {
    const missing = { ...request('x'), target: { queueUrl: `${queueUrl}-missing` } }
    const id = await operations.stale('redrive-missing', missing)
    const { code, stderr } = await cli.run('redrive', id, '--yes')
    expect([code, stderr]).toEqual([11, expect.stringContaining('Its target refuses the request')])
    expect((await stored(id)).status).toBe('IN_PROGRESS')
  })
})

describe('dispatch', () => {
  test('sends what was refused, under its own id', async () => {
    const id = await operations.stuck('dispatch', queueUrl)
    const { code, stdout } = await cli.run('dispatch', id, '--yes')
    expect(code).toBe(0)
    expect(stdout).toMatch(/stuck: QueueDoesNotExist/)
    expect(stdout).toMatch(/dispatched\n$/)
    expect(await received()).toEqual(['{"secret":"a message"}'])
    const again = await cli.run('dispatch', id, '--yes')
    expect([again.code, again.stdout]).toEqual([0, '1 message in its outbox, and none that somebody has to send.\n'])
  })

  test('leaves to the relay what it is only just going to send, unless told otherwise', async () => {
    const id = await operations.committed('dispatch-pending', queueUrl)
    expect((await cli.json('dispatch', id, '--yes')).answer).toEqual({ id, messages: [] })
    const { answer } = await cli.json('dispatch', id, '--yes', '--pending')
    expect(answer.messages).toMatchObject([{ result: 'dispatched' }])
  })

  test('says why one could not be sent', async () => {
    const id = await operations.stuck('dispatch-missing', `${queueUrl}-missing`)
    const { code, answer } = await cli.json('dispatch', id, '--yes')
    expect(code).toBe(11)
    expect(answer.messages).toMatchObject([{ result: 'stuck', why: expect.stringContaining('QueueDoesNotExist') }])
  })
})

test('an operation named by its key is written like one named by its id', async () => {
  const id = await operations.stopped('by-key')
  const { answer } = await cli.json('resume', '-n', NAMESPACE, '-s', SCOPE, '-k', 'by-key', '--yes')
  expect(answer.id).toBe(id)
})
