import { once } from 'node:events'
import { type LocalService, type LocalServiceOptions, startLocalService } from '../local-service.ts'
import type { PartName } from '../parts.ts'
import { type PaymentProvider, startPaymentProvider } from '../payment-provider/start.ts'
import { startOneProcess } from '../platform/one-process.ts'
import type { Platform } from '../platform/platform.ts'
import { startProcesses } from '../platform/processes.ts'
import { announce, announceLimits, PROVIDER, receivedVisibility } from './announce.ts'
import type { KillTarget } from './killer.ts'
import { PRINCIPALS } from './plan.ts'
import type { RunResult } from './report.ts'
import { findRoles, type Roles } from './roles.ts'
import { runJob } from './run-job.ts'
import type { StartOptions, Whereabouts } from './start-options.ts'
import { ensureAssembly } from './synth.ts'
import { createTally, type Tally } from './tally.ts'

/** Brings the service up, runs the job, keeps serving when asked to, and stops everything. */
export async function runService(
  options: StartOptions,
  onResult: (result: RunResult) => void,
): Promise<RunResult | undefined> {
  if (options.where.kind === 'one-process') announceLimits(options.where.reason)
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
      visibilitySecondsOf: (queue, timeoutSeconds) => receivedVisibility(options, queue, timeoutSeconds),
      afterSuccess: loseEveryFirstDelete(tally),
      scheduleEverySeconds: options.scheduleEverySeconds,
      onBatch: tally.batchDone,
      onScheduledRun: tally.scheduledRunDone,
      onLine: (_, line) => tally.lineWritten(line),
    })
    try {
      const roles = findRoles(service.model)
      announce(options, roles, service)
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
  return ({ MessageId = '', Attributes }, { name, redrive }) => {
    const isLastDelivery = Number(Attributes?.ApproximateReceiveCount) >= (redrive?.maxReceiveCount ?? Infinity)
    if (lost.has(MessageId) || isLastDelivery) return 'delete'
    lost.add(MessageId)
    tally.deleteLost(name)
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
  const hasProcesses = options.where.kind === 'processes'
  const killTargets = kills > 0 ? findKillTargets(options.killParts, parts.roles, platform) : []
  const readOrderRows = () => platform.items(parts.roles.ordersTable)
  return runJob({ ...parts, hasProcesses, killTargets, readOrderRows, orders, kills, seed, signal })
}

function findKillTargets(names: readonly PartName[], { functions }: Roles, platform: Platform): KillTarget[] {
  return names.map((name) => {
    const definition = functions.get(name)
    const processes = definition && platform.processesOf(definition.name)
    if (processes === undefined) throw new Error(`--kill ${name}: the template has no such function`)
    return { name, processes }
  })
}

async function startPlatform(where: Whereabouts): Promise<Platform> {
  if (where.kind === 'one-process') {
    console.log('starting SQS, the API and the payment provider …')
    return startOneProcess()
  }
  console.log('starting DynamoDB Local, SQS, the API, the functions and the payment provider …')
  return startProcesses(where)
}

function assemble(root: string): string {
  const { directory, synthesized } = ensureAssembly(root)
  console.log(synthesized ? 'synthesized cdk.out' : 'cdk.out is up to date')
  return directory
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
