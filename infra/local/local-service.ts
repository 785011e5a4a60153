import { rmSync } from 'node:fs'
import { SQSClient } from '@aws-sdk/client-sqs'
import { freePort } from './engines/free-port.ts'
import { startSqsEmulator } from './engines/sqs-emulator.ts'
import { type Poller, type PollerOptions, startPoller } from './event-source-mapping/poller.ts'
import { type HttpApi, startHttpApi } from './http-api/gateway.ts'
import { createTokenIssuer, type TokenIssuer } from './http-api/token-issuer.ts'
import type { InvocableFunction } from './lambda/invocation.ts'
import type { Platform } from './platform/platform.ts'
import { createQueues } from './template/deploy.ts'
import { loadModel } from './template/load.ts'
import type { LocalModel, LocalQueue } from './template/model.ts'

const REGION = 'eu-central-1'

/** Options of {@link startLocalService}. */
export interface LocalServiceOptions {
  /** The cloud assembly, `cdk.out`. */
  readonly assemblyDirectory: string
  readonly logDirectory: string
  /** Stopped with the service. */
  readonly platform: Platform
  /** Replaces variables the template gives its functions (those that have them). */
  readonly environmentOverrides: { readonly [name: string]: string }
  /** Receives from a queue with this visibility instead of the template's. */
  readonly visibilitySecondsOf?: (queue: LocalQueue, functionTimeoutSeconds: number) => number
  /** Invocations of a function at once at most, where the template sets no limit. @defaultValue 8 */
  readonly maxEnvironments?: number
  /** @defaultValue a free port */
  readonly apiPort?: number
  readonly afterSuccess?: PollerOptions['afterSuccess']
  readonly onBatch?: PollerOptions['onBatch']
  /** Sees every line a function writes. */
  readonly onLine?: (functionName: string, line: string) => void
}

/** The synthesized service, running on this machine. */
export interface LocalService {
  readonly model: LocalModel
  readonly apiEndpoint: string
  readonly sqsEndpoint: string
  readonly tokens: TokenIssuer
  /** Takes no new batch; resolves when those in flight are done. */
  stopPolling(): Promise<void>
  /** Stops everything. */
  stop(): Promise<void>
}

/**
 * Starts the queues, creates what the template says, and runs its functions, routes and queues.
 *
 * @throws UnsupportedTemplateError when the template has something that cannot be run locally.
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  // In the order of starting; stopped the other way round, and also when a later one fails to start.
  const running: { stop(): Promise<void> }[] = [options.platform]
  const stop = async (): Promise<void> => {
    const failures: unknown[] = []
    while (running.length > 0)
      await running
        .pop()
        ?.stop()
        .catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
  try {
    const sqs = await startSqsEmulator()
    running.push(sqs)
    const apiPort = options.apiPort ?? (await freePort())
    const apiEndpoint = `http://127.0.0.1:${apiPort}`
    const model = loadModel(options.assemblyDirectory, { region: REGION, sqsEndpoint: sqs.endpoint, apiEndpoint })
    await Promise.all([options.platform.createTables(model), createQueues(model, sqs.endpoint)])

    const functions = startFunctions(model, sqs.endpoint, options)
    running.push({ stop: async () => void (await Promise.all([...functions.values()].map((one) => one.stop()))) })

    const tokens = await createTokenIssuer()
    const functionNamed = (name: string): InvocableFunction => {
      const found = functions.get(name)
      if (found === undefined) throw new Error(`no function ${name} in the template`)
      return found
    }
    const api: HttpApi = await startHttpApi({
      routes: model.routes,
      tokens,
      invoke: (functionName, event) => functionNamed(functionName).invoke(event),
      port: apiPort,
    })
    running.push(api)

    const client = new SQSClient({
      endpoint: sqs.endpoint,
      region: REGION,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    })
    const pollers = model.mappings.map((mapping): Poller => {
      const queue = model.queues.find(({ arn }) => arn === mapping.queueArn)
      if (queue === undefined) throw new Error(`${mapping.logicalId}: no queue ${mapping.queueArn} in the template`)
      const worker = functionNamed(mapping.functionName)
      const visibilitySeconds = options.visibilitySecondsOf?.(queue, worker.definition.timeoutSeconds)
      return startPoller({ ...options, mapping, queue, worker, client, visibilitySeconds })
    })
    const stopPolling = async (): Promise<void> => {
      await Promise.all(pollers.map((poller) => poller.stop()))
    }
    running.push({ stop: stopPolling })
    return Object.freeze({ model, apiEndpoint, sqsEndpoint: sqs.endpoint, tokens, stopPolling, stop })
  } catch (error) {
    // What failed first is the news; a failure to stop after it is not.
    await stop().catch(() => undefined)
    throw error
  }
}

function startFunctions(
  { functions, region }: LocalModel,
  sqsEndpoint: string,
  options: LocalServiceOptions,
): ReadonlyMap<string, InvocableFunction> {
  const { platform, logDirectory, maxEnvironments } = options
  rmSync(logDirectory, { recursive: true, force: true })
  return new Map(
    functions.map((definition) => {
      const overrides = Object.fromEntries(
        Object.entries(options.environmentOverrides).filter(([name]) => name in definition.environment),
      )
      const onLine = (line: string): void => options.onLine?.(definition.name, line)
      const start = { definition, region, sqsEndpoint, overrides, logDirectory, maxEnvironments, onLine }
      return [definition.name, platform.startFunction(start)]
    }),
  )
}
