import { once } from 'node:events'
import { relative } from 'node:path'
import pc from 'picocolors'
import { type LocalService, type LocalServiceOptions, startLocalService } from '../local-service.ts'
import { type PaymentProvider, startPaymentProvider } from '../payment-provider/start.ts'
import { startOneProcess } from '../platform/one-process.ts'
import type { Platform } from '../platform/platform.ts'
import { startProcesses } from '../platform/processes.ts'
import { PRINCIPALS } from './plan.ts'
import type { RunResult } from './report.ts'
import { findRoles, type Roles } from './roles.ts'
import { runJob } from './run-job.ts'
import { ensureAssembly } from './synth.ts'
import { createTally, type Tally } from './tally.ts'

// A provider on a bad day: slow now and then, sometimes away, sometimes silent after it has charged.
const PROVIDER = { latencyMs: 150, unavailableChance: 0.04, lostAnswerChance: 0.03 }
// Enough for the worker to be over (and its lease with it) before a message comes again, and short enough to watch.
const VISIBILITY_OVER_TIMEOUT_SECONDS = 3

/** What the service runs on. */
export type Whereabouts =
  | { readonly kind: 'processes'; readonly javaPath: string }
  /** Without Java: no DynamoDB, no processes to kill. */
  | { readonly kind: 'one-process'; readonly reason: string }

/** What `npm start` was asked for. */
export interface StartOptions {
  readonly root: string
  readonly logDirectory: string
  readonly where: Whereabouts
  /** A cloud assembly to run as it is; by default this project is synthesized. */
  readonly assemblyDirectory: string | undefined
  readonly orders: number
  readonly kills: number
  readonly seed: number
  readonly visibilitySeconds: number | undefined
  readonly serve: boolean
  readonly signal: AbortSignal
}

/** Brings the service up, runs the job, keeps serving when asked to, and stops everything. */
export async function runService(
  options: StartOptions,
  onResult: (result: RunResult) => void,
): Promise<RunResult | undefined> {
  if (options.where.kind === 'one-process') printLimits(options.where.reason)
  const directory = options.assemblyDirectory ?? assemble(options.root)
  const tally = createTally()
  const provider = await startPaymentProvider({ ...PROVIDER, seed: options.seed })
  try {
    const platform = await startPlatform(options.where)
    const service = await startLocalService({
      platform,
      assemblyDirectory: directory,
      logDirectory: options.logDirectory,
      environmentOverrides: { PAYMENT_PROVIDER_URL: provider.endpoint },
      visibilitySecondsOf: (queue, timeoutSeconds) =>
        options.visibilitySeconds ??
        Math.min(queue.visibilitySeconds, timeoutSeconds + VISIBILITY_OVER_TIMEOUT_SECONDS),
      afterSuccess: loseEveryFirstDelete(tally),
      onBatch: tally.batchDone,
      onLine: (_, line) => tally.lineWritten(line),
    })
    try {
      const roles = findRoles(service.model)
      printHeader(options, roles, service)
      const result =
        options.orders > 0 ? await runTheJob(options, { platform, service, provider, roles, tally }) : undefined
      if (result) onResult(result)
      if (options.serve) await serve(service, provider, roles, options.signal)
      return result
    } finally {
      await service.stop()
    }
  } finally {
    await provider.stop()
  }
}

/** Every message comes again after its first success, as if its deletion had been lost, unless that would make it dead. */
function loseEveryFirstDelete(tally: Tally): LocalServiceOptions['afterSuccess'] {
  const lost = new Set<string>()
  return ({ MessageId = '', Attributes }, { redrive }) => {
    const isLastDelivery = Number(Attributes?.ApproximateReceiveCount) >= (redrive?.maxReceiveCount ?? Infinity)
    if (lost.has(MessageId) || isLastDelivery) return 'delete'
    lost.add(MessageId)
    tally.deleteLost()
    return 'redeliver'
  }
}

function runTheJob(
  options: StartOptions,
  {
    platform,
    ...parts
  }: {
    platform: Platform
    service: LocalService
    provider: PaymentProvider
    roles: Roles
    tally: Tally
  },
): Promise<RunResult> {
  const { orders, kills, seed, signal } = options
  const workers = platform.processesOf(parts.roles.worker.name)
  const readOrderRows = () => platform.items(parts.roles.ordersTable)
  return runJob({ ...parts, workers, readOrderRows, orders, kills, seed, signal })
}

async function startPlatform(where: Whereabouts): Promise<Platform> {
  if (where.kind === 'one-process') {
    console.log('starting SQS, the API and the payment provider …')
    return startOneProcess()
  }
  console.log('starting DynamoDB Local, SQS, the API, the functions and the payment provider …')
  return startProcesses(where)
}

function printLimits(reason: string): void {
  console.log(pc.yellow(reason))
  console.log(
    pc.yellow(
      'So the functions run in this one process, on the in-memory store. Left out: kills of real processes, takeovers after a kill, the real DynamoDB.',
    ),
  )
}

function assemble(root: string): string {
  const { directory, synthesized } = ensureAssembly(root)
  console.log(synthesized ? 'synthesized cdk.out' : 'cdk.out is up to date')
  return directory
}

function printHeader(options: StartOptions, roles: Roles, service: LocalService): void {
  const { paymentsQueue, worker } = roles
  const visibilitySeconds =
    options.visibilitySeconds ??
    Math.min(paymentsQueue.visibilitySeconds, worker.timeoutSeconds + VISIBILITY_OVER_TIMEOUT_SECONDS)
  console.log(
    `running the synthesized template: ${service.apiEndpoint}, logs in ${relative(process.cwd(), options.logDirectory)}`,
  )
  if (visibilitySeconds !== paymentsQueue.visibilitySeconds) {
    console.log(
      `unlike the template: messages are received with a visibility of ${visibilitySeconds} s instead of ${paymentsQueue.visibilitySeconds} s, so that redeliveries come while you watch`,
    )
  }
  const killed = options.where.kind === 'processes' ? `${options.kills} workers are killed, ` : ''
  console.log(
    `made to go wrong: every message's first deletion is lost, ${killed}the provider fails ${100 * PROVIDER.unavailableChance}% and loses ${100 * PROVIDER.lostAnswerChance}% of its answers`,
  )
}

async function serve(
  service: LocalService,
  provider: PaymentProvider,
  roles: Roles,
  signal: AbortSignal,
): Promise<void> {
  const [principal = ''] = PRINCIPALS
  const token = await service.tokens.mint(principal, roles.authorizer, { lifetimeSeconds: 86_400 })
  const body = '{"customerId":"c1","items":[{"sku":"a","quantity":2,"unitPriceCents":1250}],"currency":"EUR"}'
  console.log(`
Serving until Ctrl-C. Send it twice, then change the body under the same key, then leave the key out:

TOKEN=${token}

curl -i ${service.apiEndpoint}/orders -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: my-first-order' -d '${body}'

curl ${provider.endpoint}/stats`)
  if (!signal.aborted) await once(signal, 'abort')
}
