import { setTimeout as sleep } from 'node:timers/promises'
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import pLimit from 'p-limit'
import type { FunctionPool } from '../lambda/function-pool.ts'
import type { LocalService } from '../local-service.ts'
import type { PaymentProvider } from '../payment-provider/start.ts'
import { seededRandom } from '../seeded-random.ts'
import { audit, drainBodies } from './audit.ts'
import { createOrderClient } from './client.ts'
import { startKiller } from './killer.ts'
import { placeOrders } from './place-orders.ts'
import { PRINCIPALS, planOrders } from './plan.ts'
import { startProgress } from './progress.ts'
import type { RunResult } from './report.ts'
import type { Roles } from './roles.ts'
import type { Tally } from './tally.ts'

// As many as the API has processes for: one more, and throttled requests would crowd the table.
const OPEN_REQUESTS = 8
const LOOK_EVERY_MS = 500
// Longer than any honest wait of a run (a lease, a visibility timeout, a Retry-After), so that only a stuck run meets it.
const STALL_MS = 90_000
const POISON_BODY = '{"orderId": "poisoned", "amountCents":'

/** Options of {@link runJob}. */
export interface JobOptions {
  readonly service: LocalService
  readonly provider: PaymentProvider
  readonly roles: Roles
  /** The processes to kill; undefined where there are none. */
  readonly workers: FunctionPool | undefined
  /** Every item of the orders table. */
  readonly readOrderRows: () => Promise<readonly { readonly orderId?: unknown }[]>
  readonly tally: Tally
  readonly orders: number
  readonly kills: number
  readonly seed: number
  readonly signal: AbortSignal
}

/** Puts the orders through the service while its workers are being killed, then looks into the books. */
export async function runJob(options: JobOptions): Promise<RunResult> {
  const { service, provider, roles, workers, tally, signal } = options
  const startedAtMs = Date.now()
  const random = seededRandom(options.seed)
  const orders = planOrders(options.orders, random)
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const sqs = new SQSClient({ endpoint: service.sqsEndpoint, region: service.model.region, credentials })
  const tokens = new Map<string, string>()
  for (const principal of PRINCIPALS) tokens.set(principal, await service.tokens.mint(principal, roles.authorizer))

  let ordersPlaced = 0
  let charged = 0
  const watch = setInterval(() => {
    // Only for the progress line: an answer that fails to come is not news.
    provider.stats().then(
      ({ effects }) => {
        charged = effects
      },
      () => undefined,
    )
  }, LOOK_EVERY_MS)
  const progress = startProgress(() => {
    const { requests, deliveries, kills } = tally.counts()
    const parts = [`orders ${ordersPlaced}/${orders.length}`, `requests ${requests}`, `deliveries ${deliveries}`]
    if (workers) parts.push(`workers killed ${kills}/${options.kills}`)
    return [...parts, `charged ${charged}/${orders.length}`].join(' · ')
  })
  const killer = startKiller({
    workers,
    kills: options.kills,
    progress: () => ordersPlaced / orders.length,
    // Two deliveries are left to a message that met a kill in each of the others.
    sparedReceiveCount: Math.max(2, roles.maxReceiveCount - 2),
    random: seededRandom(options.seed + 1),
    tally,
  })
  try {
    await sqs.send(new SendMessageCommand({ QueueUrl: roles.paymentsQueue.url, MessageBody: POISON_BODY }))
    const limit = pLimit(OPEN_REQUESTS)
    const post = createOrderClient({
      endpoint: service.apiEndpoint,
      tally,
      random,
      limit: (work) => limit(work),
      signal,
    })
    const { placed, problems: wronglyAnswered } = await placeOrders({
      orders,
      post,
      tokenOf: (principal) => tokens.get(principal) ?? '',
      onPlaced: () => {
        ordersPlaced += 1
      },
      signal,
    })
    const leftOver = await untilDrained()
    await killer.stop()
    const evidence = {
      placed,
      rowOrderIds: (await options.readOrderRows()).map(({ orderId }) => String(orderId)),
      provider: await provider.stats(),
      deadLetterBodies: await drainBodies(sqs, roles.deadLetterQueue.url),
      poisonBody: POISON_BODY,
    }
    const findings = audit(evidence)
    const counts = tally.counts()
    const problems = [...findings.problems, ...wronglyAnswered, ...leftOver]
    if (counts.kills < options.kills) problems.push(`only ${counts.kills} of ${options.kills} workers could be killed`)
    return {
      hadProcesses: workers !== undefined,
      orders: orders.length,
      orderRows: evidence.rowOrderIds.length,
      counts,
      provider: evidence.provider,
      findings: { ...findings, problems },
      seconds: Math.round((Date.now() - startedAtMs) / 1000),
    }
  } finally {
    await killer.stop()
    clearInterval(watch)
    progress.stop()
    sqs.destroy()
  }

  /** Waits until the queue is empty; says in words what is left when it never gets there. */
  async function untilDrained(): Promise<string[]> {
    let lastChangeMs = Date.now()
    let lastSeen = ''
    for (;;) {
      const waiting = await messagesOn(sqs, roles.paymentsQueue.url)
      if (waiting === 0) return []
      const seen = `${waiting} ${tally.counts().deliveries}`
      if (seen !== lastSeen) lastChangeMs = Date.now()
      lastSeen = seen
      if (Date.now() - lastChangeMs > STALL_MS) return [`${waiting} messages stayed on the queue`]
      await sleep(LOOK_EVERY_MS, undefined, { signal })
    }
  }
}

async function messagesOn(sqs: SQSClient, queueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
  )
  const names = [
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
  ] as const
  return names.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0)
}
