import { setTimeout as sleep } from 'node:timers/promises'
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import pLimit from 'p-limit'
import type { LocalService } from '../local-service.ts'
import type { PaymentProvider } from '../payment-provider/start.ts'
import { seededRandom } from '../seeded-random.ts'
import { audit, drainBodies } from './audit.ts'
import { createOrderClient } from './client.ts'
import { type KillTarget, startKiller } from './killer.ts'
import { placeOrders } from './place-orders.ts'
import { PRINCIPALS, planOrders } from './plan.ts'
import { startProgress } from './progress.ts'
import type { RunResult } from './report.ts'
import type { Roles } from './roles.ts'
import { sum, type Tally } from './tally.ts'

// As many as the API has processes for: one more, and throttled requests would crowd the table.
const OPEN_REQUESTS = 8
const LOOK_EVERY_MS = 500
// Longer than any honest wait of a run (a lease, a visibility timeout, a Retry-After), so that only a stuck run meets it.
const STALL_MS = 90_000
// Between the work of one function and the delivery to the next, a single look may find nothing anywhere.
const QUIET_LOOKS = 2
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
  /** Every item of the orders table. */
  readonly readOrderRows: () => Promise<readonly { readonly orderId?: unknown }[]>
  readonly tally: Tally
  readonly orders: number
  readonly kills: number
  readonly seed: number
  readonly signal: AbortSignal
}

/** Puts the orders through the service while processes are being killed, then looks into the books. */
export async function runJob(options: JobOptions): Promise<RunResult> {
  const { service, provider, roles, killTargets, tally, signal } = options
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
  const deliveries = (): number => sum([...tally.counts().sources.values()].map((source) => source.deliveries))
  const progress = startProgress(() => {
    const { requests, kills } = tally.counts()
    const parts = [`orders ${ordersPlaced}/${orders.length}`, `requests ${requests}`, `deliveries ${deliveries()}`]
    if (options.hasProcesses) parts.push(`killed ${sum(kills.values())}/${options.kills}`)
    return [...parts, `charged ${charged}/${orders.length}`].join(' · ')
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
    const killed = sum(counts.kills.values())
    if (killed < options.kills) problems.push(`only ${killed} of ${options.kills} processes could be killed`)
    return {
      hadProcesses: options.hasProcesses,
      roles,
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

  /** Waits until nothing is left on any queue or stream; says in words what is left when it never gets there. */
  async function untilDrained(): Promise<string[]> {
    let lastChangeMs = Date.now()
    let lastSeen = ''
    let quietLooks = 0
    for (;;) {
      // Streams first: what they hand on is on a queue by then.
      const streams = service.streamsAreIdle() ? [] : ['records stayed on a stream']
      const waiting = await Promise.all(roles.workedQueues.map(({ url }) => messagesOn(sqs, url)))
      const left = roles.workedQueues.flatMap(({ name }, index) =>
        waiting[index] ? [`${waiting[index]} messages stayed on ${name}`] : [],
      )
      quietLooks = streams.length + left.length === 0 ? quietLooks + 1 : 0
      if (quietLooks === QUIET_LOOKS) return []
      const seen = `${waiting} ${deliveries()}`
      if (seen !== lastSeen) lastChangeMs = Date.now()
      lastSeen = seen
      if (Date.now() - lastChangeMs > STALL_MS) return [...streams, ...left]
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
