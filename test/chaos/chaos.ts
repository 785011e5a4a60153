import { mkdirSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'
import { build } from 'esbuild'
import { startSqsEmulator } from '../../infra/local/engines/sqs-emulator.ts'
import { startQueuePoller } from '../../infra/local/event-source-mapping/queue-poller.ts'
import { createFunctionPool } from '../../infra/local/lambda/function-pool.ts'
import type { LocalFunction, LocalQueue } from '../../infra/local/template/model.ts'
import { chanceFrom } from '../sim/chance.ts'
import { createTable } from '../stores/table.ts'
import { startAttacks } from './attacks.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { type ChaosProvider, startChaosProvider } from './provider.ts'

/** What a run is made of. */
export interface ChaosOptions {
  readonly messages: number
  readonly seed: number
  readonly dynamoDbEndpoint: string
  /** Hears how far it is. */
  readonly onProgress?: (line: string) => void
}

/** What a run came to. */
export interface ChaosReport {
  readonly messages: number
  readonly deliveries: number
  /** How often a handler was entered. */
  readonly runs: number
  readonly kills: number
  readonly freezes: number
  readonly faults: number
  readonly completed: number
  /** A mail was begun, and nobody can say whether it went out: left to an operator, as asked. */
  readonly unknown: number
  /** What must be empty. */
  readonly lost: readonly string[]
  readonly chargedTwice: readonly string[]
  readonly mailedTwice: readonly string[]
  readonly committedTwice: readonly string[]
  readonly missingEffects: readonly string[]
}

const LEASE_SECONDS = 2
const VISIBILITY_SECONDS = 5
const TIMEOUT_SECONDS = 20
const FAULT_RATE = 0.08
/** How long the rest may take when nothing goes wrong any more, in ms. */
const CALM_MS = 120_000

const DIRECTORY = fileURLToPath(new URL('../../.local/chaos/', import.meta.url))

/** Sends messages through a queue to real processes that are killed and frozen, over a network that loses answers. */
export async function runChaos({ messages, seed, dynamoDbEndpoint, onProgress }: ChaosOptions): Promise<ChaosReport> {
  const chance = chanceFrom(seed)
  const client = new DynamoDBClient({ endpoint: dynamoDbEndpoint })
  const [table, ledger] = [await createTable(client), await createTable(client)]
  const provider = await startChaosProvider(chance)
  const proxy = await startFaultProxy(dynamoDbEndpoint, chance, FAULT_RATE)
  const emulator = await startSqsEmulator()
  const sqs = new SQSClient({ endpoint: emulator.endpoint })
  const queue = await createQueue(sqs)
  const environment = {
    TABLE: table,
    LEDGER: ledger,
    PROVIDER: provider.endpoint,
    LEASE_SECONDS: String(LEASE_SECONDS),
  }
  const pool = createFunctionPool({
    definition: await bundled(environment),
    place: { region: 'eu-central-1', dynamoDbEndpoint: proxy.endpoint, sqsEndpoint: emulator.endpoint },
    logDirectory: DIRECTORY,
    maxEnvironments: 4,
  })
  let deliveries = 0
  const ids = Array.from({ length: messages }, (_, index) => String(index))
  await sendAll(sqs, queue, ids)
  const poller = startQueuePoller({
    queue,
    worker: pool,
    client: sqs,
    mapping: {
      kind: 'queue',
      logicalId: 'Chaos',
      queueArn: queue.arn,
      functionName: 'chaos',
      batchSize: 5,
      windowSeconds: 0,
      reportsBatchItemFailures: true,
      maxConcurrency: 3,
    },
    // A deletion may be lost as well.
    afterSuccess: () => (chance.happens(0.05) ? 'redeliver' : 'delete'),
    onBatch: ({ ids: delivered }) => {
      deliveries += delivered.length
    },
  })

  let progress = 0
  const attacks = startAttacks(pool, chance, {
    kills: Math.ceil(messages / 12),
    freezes: Math.ceil(messages / 40),
    progress: () => progress,
  })
  const committed = () => rowsOf(client, ledger)
  const unknown = async () => (await rowsOf(client, table, 'UNKNOWN')).size

  try {
    let calmUntilMs = Number.POSITIVE_INFINITY
    for (;;) {
      await sleep(1_000)
      const [done, open] = [(await committed()).size, await unknown()]
      progress = (done + open) / messages
      onProgress?.(`${done} of ${messages} done, ${open} unknown, ${attacks.kills} kills, ${attacks.freezes} freezes`)
      if (progress >= 1 || Date.now() > calmUntilMs) break
      if (progress >= 0.97 && calmUntilMs === Number.POSITIVE_INFINITY) {
        await attacks.stop()
        proxy.calm()
        calmUntilMs = Date.now() + CALM_MS
      }
    }
    await attacks.stop()
    await poller.stop()
    const faults = Object.values(proxy.counts).reduce((sum, count) => sum + count, 0)
    const runs = [...provider.runs.values()].reduce((sum, count) => sum + count, 0)
    return {
      messages,
      deliveries,
      runs,
      kills: attacks.kills,
      freezes: attacks.freezes,
      faults,
      unknown: await unknown(),
      ...audit(ids, await committed(), provider, (await rowsOf(client, table, 'UNKNOWN')).size),
    }
  } finally {
    await attacks.stop()
    await pool.stop()
    await Promise.all([proxy.stop(), provider.stop(), emulator.stop()])
    rmSync(`${DIRECTORY}${process.pid}`, { recursive: true, force: true })
    client.destroy()
    sqs.destroy()
  }
}

function audit(
  ids: readonly string[],
  committed: ReadonlyMap<string, number>,
  { charges, mails }: ChaosProvider,
  unknown: number,
) {
  const done = ids.filter((id) => committed.has(id))
  const open = ids.filter((id) => !committed.has(id))
  return {
    completed: done.length,
    // Those that are unknown are counted, not named: a record does not hold its key.
    lost: open.length > unknown ? open : [],
    chargedTwice: ids.filter((id) => (charges.get(id) ?? 0) > 1),
    mailedTwice: ids.filter((id) => (mails.get(id) ?? 0) > 1),
    committedTwice: ids.filter((id) => (committed.get(id) ?? 0) > 1),
    missingEffects: done.filter((id) => charges.get(id) !== 1 || mails.get(id) !== 1),
  }
}

/** Rows by partition key, with their count; or the records of one status. */
async function rowsOf(client: DynamoDBClient, TableName: string, status?: string): Promise<Map<string, number>> {
  const rows = new Map<string, number>()
  let from: Record<string, never> | undefined
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new ScanCommand({ TableName, ConsistentRead: true, ...(from && { ExclusiveStartKey: from }) }),
    )
    for (const { pk, n, status: stands } of Items) {
      if (status === undefined || stands?.S === status) rows.set(pk?.S ?? '', Number(n?.N ?? 1))
    }
    from = LastEvaluatedKey as typeof from
  } while (from !== undefined)
  return rows
}

async function bundled(environment: Readonly<Record<string, string>>): Promise<LocalFunction> {
  const codeDirectory = `${DIRECTORY}${process.pid}`
  mkdirSync(codeDirectory, { recursive: true })
  await build({
    entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    outfile: `${codeDirectory}/index.mjs`,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  })
  return {
    logicalId: 'Chaos',
    name: 'chaos',
    arn: 'arn:aws:lambda:eu-central-1:000000000000:function:chaos',
    codeDirectory,
    handler: 'index.handler',
    timeoutSeconds: TIMEOUT_SECONDS,
    memoryMegabytes: 256,
    reservedConcurrency: undefined,
    environment,
  }
}

async function createQueue(client: SQSClient): Promise<LocalQueue> {
  const name = 'chaos'
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: name }))
  return {
    logicalId: 'Queue',
    name,
    url: QueueUrl,
    arn: `arn:aws:sqs:eu-central-1:000000000000:${name}`,
    // Shorter than the function's time-out, which AWS refuses: so a message comes again while its first delivery runs.
    visibilitySeconds: VISIBILITY_SECONDS,
    redrive: undefined,
    attributes: {},
  }
}

async function sendAll(client: SQSClient, { url }: LocalQueue, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += 10) {
    const Entries = ids.slice(start, start + 10).map((id) => ({ Id: id, MessageBody: JSON.stringify({ id }) }))
    await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }))
  }
}
