import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { createJournal } from '../../../lib/cli/watch/journal.ts'
import { happeningIn } from '../console/happenings.ts'
import { type DemoConsole, startDemoConsole } from '../console/start.ts'
import { freePort } from '../engines/free-port.ts'
import { type LocalService, startLocalService } from '../local-service.ts'
import type { PartName } from '../parts.ts'
import { type PaymentProvider, startPaymentProvider } from '../payment-provider/start.ts'
import { startOneProcess } from '../platform/one-process.ts'
import type { Platform } from '../platform/platform.ts'
import { startProcesses } from '../platform/processes.ts'
import { announce, announceLimits, badDay, receivedVisibility, wrongs } from './announce.ts'
import type { KillTarget } from './killer.ts'
import { createMischief, type Mischief } from './mischief.ts'
import { ABANDONED_SHARE, PRINCIPALS } from './plan.ts'
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
  const apiPort = await freePort()
  const secret = randomUUID()
  const callbacks = { url: `http://127.0.0.1:${apiPort}/webhooks/payments`, secret }
  const provider = await startPaymentProvider({ ...badDay(options), callbacks, seed: options.seed })
  const mischief = createMischief(tally)
  const journal = createJournal()
  // Told of by the part it plays: the template's names are long.
  const partNames = new Map<string, PartName>()
  try {
    const platform = await startPlatform(options.where)
    const service = await startLocalService({
      platform,
      assemblyDirectory: directory,
      logDirectory: options.logDirectory,
      environmentOverrides: { PAYMENT_PROVIDER_URL: provider.endpoint, PAYMENT_WEBHOOK_SECRET: secret },
      apiPort,
      visibilitySecondsOf: (queue, timeoutSeconds) => receivedVisibility(options, queue, timeoutSeconds),
      afterSuccess: mischief.afterSuccess,
      scheduleEverySeconds: options.scheduleEverySeconds,
      onBatch: tally.batchDone,
      onScheduledRun: tally.scheduledRunDone,
      onLine: (functionName, line) => {
        tally.lineWritten(line)
        const told = options.serve ? happeningIn(line, partNames.get(functionName) ?? functionName) : undefined
        if (told !== undefined) journal.add(told.operationId, told.happening)
      },
    })
    let page: DemoConsole | undefined
    try {
      const roles = findRoles(service.model)
      for (const [part, { name }] of roles.functions) partNames.set(name, part)
      announce(options, roles, service)
      const parts = { options, platform, service, provider, roles, journal, hints: wrongs(options) }
      if (options.serve) page = await startDemoConsole(parts)
      if (page !== undefined) console.log(`watch it in a browser: ${page.url}`)
      const result =
        options.orders > 0
          ? await runTheJob(options, { platform, service, provider, roles, tally, mischief })
          : undefined
      if (result) onResult(result)
      if (page !== undefined) {
        page.begin()
        await serve(page.url, service, provider, roles, options.signal)
      }
      return result
    } finally {
      await page?.stop()
      await service.stop()
    }
  } finally {
    await provider.stop()
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
    mischief: Mischief
  },
): Promise<RunResult> {
  const { orders, kills, seed, signal } = options
  const hasProcesses = options.where.kind === 'processes'
  const killTargets = kills > 0 ? findKillTargets(options.killParts, parts.roles, platform) : []
  const sendLateUpdates = (sqs: SQSClient) => parts.mischief.sendLateUpdates(sqs, parts.roles.paidOrdersQueue)
  const readItems = platform.items
  return runJob({ ...parts, hasProcesses, killTargets, readItems, sendLateUpdates, orders, kills, seed, signal })
}

function findKillTargets(names: readonly PartName[], { functions }: Roles, platform: Platform): KillTarget[] {
  return names.map((name) => {
    const definition = functions.get(name)
    const processes = definition && platform.processesOf(definition.name)
    if (processes === undefined) throw new Error(`--kill ${name}: the template has no such function`)
    // Abandoned orders are among the first of a run, and only in these a kill is one that no client repairs.
    return {
      name,
      processes,
      ...(name === 'orders-api' && { doneBy: ABANDONED_SHARE / 5, alwaysAimed: true, pickyUntil: 0.4 }),
    }
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
  url: string,
  service: LocalService,
  provider: PaymentProvider,
  roles: Roles,
  signal: AbortSignal,
): Promise<void> {
  const [principal = ''] = PRINCIPALS
  const token = await service.tokens.mint(principal, roles.authorizer, { lifetimeSeconds: 86_400 })
  const body = '{"customerId":"c1","items":[{"sku":"a","quantity":2,"unitPriceCents":1250}],"currency":"EUR"}'
  console.log(`
Serving until Ctrl-C. Watch it and try it in a browser: ${url}

Or send it twice, then change the body under the same key, then leave the key out:

TOKEN=${token}

curl -i ${service.apiEndpoint}/orders -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: my-first-order' -d '${body}'

curl ${provider.endpoint}/stats`)
  if (!signal.aborted) await once(signal, 'abort')
}
