import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import pLimit from 'p-limit'
import type { LocalService } from '../local-service.ts'
import type { PaymentProvider } from '../payment-provider/start.ts'
import { seededRandom } from '../seeded-random.ts'
import { audit } from './audit.ts'
import { createOrderClient } from './client.ts'
import { type KillerOptions, type KillTarget, startKiller } from './killer.ts'
import { placeOrders } from './place-orders.ts'
import { type OrderBody, PRINCIPALS, planOrders } from './plan.ts'
import { startProgress } from './progress.ts'
import { drainBodies } from './queues.ts'
import { readRecords, type StoredItem } from './records.ts'
import type { RunResult } from './report.ts'
import type { Roles } from './roles.ts'
import { createSettling } from './settle.ts'
import { sum, type Tally } from './tally.ts'

// As many as the API has processes for: one more, and throttled requests would crowd the table.
const OPEN_REQUESTS = 8
const LOOK_EVERY_MS = 500
const POISON_BODY = '{"orderId": "poisoned", "amountCents":'

/** Options of {@link runJob}. */
export interface JobOptions {
  readonly service: LocalService
  readonly provider: PaymentProvider
  readonly roles: Roles
  /** The functions run in processes of their own. */
  readonly hasProcesses: boolean
  /** Whose processes to kill. */
  readonly killTargets: readonly KillTarget[]
  /** Every item of a table. */
  readonly readItems: (tableName: string) => Promise<readonly StoredItem[]>
  /** Sends some messages of the ledger worker's queue again, as new ones; answers how many. */
  readonly sendLateUpdates: (sqs: SQSClient) => Promise<number>
  readonly tally: Tally
  readonly orders: number
  readonly kills: number
  readonly seed: number
  readonly signal: AbortSignal
}

/** Puts the orders through the service while processes are being killed, then looks into the books. */
export async function runJob(options: JobOptions): Promise<RunResult> {
  const { service, provider, roles, killTargets, readItems, tally, signal } = options
  const startedAtMs = Date.now()
  const random = seededRandom(options.seed)
  const orders = planOrders(options.orders, random)
  const abandonedKeys = new Set(orders.filter(({ abandons }) => abandons).map(({ key }) => key))
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
  const settling = createSettling({
    service,
    provider,
    roles,
    sqs,
    readRecords: async () => readRecords(await readItems(roles.tables.operations)),
    deliveries: () => sum([...tally.counts().sources.values()].map((source) => source.deliveries)),
    signal,
  })
  const progress = startProgress(() => {
    const { requests, kills, events } = tally.counts()
    const parts = [`orders ${ordersPlaced}/${orders.length}`, `requests ${requests}`]
    if (options.hasProcesses) parts.push(`killed ${sum(kills.values())}/${options.kills}`)
    parts.push(`charged ${charged}`, `booked ${events.get('payments/completed') ?? 0}`)
    return [...parts, ...settling.waitingFor()].join(' · ')
  })
  const killer = startKiller({
    targets: killTargets,
    kills: options.kills,
    progress: () => ordersPlaced / orders.length,
    // Two deliveries are left to a message that met a kill in each of the others.
    sparedReceiveCount: (queueArn) => {
      const redrive = service.model.queues.find(({ arn }) => arn === queueArn)?.redrive
      return redrive ? Math.max(2, redrive.maxReceiveCount - 2) : Infinity
    },
    moment: momentsOf({ abandonedKeys, provider, readOrders: () => readItems(roles.tables.orders) }),
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
    const unsettled = await settling.untilSettled(killer.isDone)
    await killer.stop()
    const lateUpdates = await options.sendLateUpdates(sqs)
    const unsettledLate = await settling.untilSettled(() => true)
    const [operations, orderRows, ledgerRows, balanceRows] = await Promise.all(
      [roles.tables.operations, roles.tables.orders, roles.tables.ledger, roles.tables.balances].map(readItems),
    )
    const deadLetters = await Promise.all(roles.deadLetterQueues.map(({ url }) => drainBodies(sqs, url)))
    const records = readRecords(operations ?? [])
    const stats = await provider.stats()
    const findings = audit({
      placed,
      orderRows: orderRows ?? [],
      ledgerRows: ledgerRows ?? [],
      balanceRows: balanceRows ?? [],
      records,
      provider: stats,
      deadLetterBodies: deadLetters.flat(),
      poisonBody: POISON_BODY,
    })
    const counts = tally.counts()
    const problems = [...findings.problems, ...wronglyAnswered, ...unsettled, ...unsettledLate]
    const killed = sum(counts.kills.values())
    if (killed < options.kills) {
      problems.push(
        `only ${killed} of ${options.kills} processes could be killed: there was no more work to kill them in`,
      )
    }
    return {
      hadProcesses: options.hasProcesses,
      roles,
      orders: orders.length,
      abandoned: abandonedKeys.size,
      orderRows: orderRows?.length ?? 0,
      ledgerRows: ledgerRows?.length ?? 0,
      accounts: balanceRows?.length ?? 0,
      lateUpdates,
      records,
      counts,
      provider: stats,
      findings: { ...findings, problems },
      seconds: Math.round((Date.now() - startedAtMs) / 1000),
    }
  } finally {
    await killer.stop()
    clearInterval(watch)
    progress.stop()
    sqs.destroy()
  }
}

/** The moments at which a kill hurts most. */
function momentsOf({
  abandonedKeys,
  provider,
  readOrders,
}: {
  readonly abandonedKeys: ReadonlySet<string>
  readonly provider: Pick<PaymentProvider, 'unanswered'>
  readonly readOrders: () => Promise<readonly StoredItem[]>
}): NonNullable<KillerOptions['moment']> {
  return async (name, { event }, killsDone) => {
    const {
      headers,
      body,
      Records = [],
    } = event as {
      headers?: { readonly [name: string]: string }
      body?: string
      Records?: readonly { readonly body?: string }[]
    }
    if (name === 'orders-api') {
      // Whoever posted it never comes back: sometime while it is worked on, or between its row and the end.
      if (!abandonedKeys.has(headers?.['idempotency-key'] ?? '')) return 'no'
      if (killsDone % 2 === 1) return 'soon'
      const { customerId } = JSON.parse(body ?? '{}') as Partial<OrderBody>
      const row = (await readOrders()).find((order) => order.customerId === customerId)
      return row !== undefined && row.paymentRequestedAt === undefined ? 'now' : 'no'
    }
    if (name !== 'payments-worker') return 'soon'
    // The charge is made, and the worker does not know it yet.
    const unanswered = await provider.unanswered()
    return Records.some((record) => unanswered.some((orderId) => record.body?.includes(orderId))) ? 'now' : 'no'
  }
}
