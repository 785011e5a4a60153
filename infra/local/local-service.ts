import { rmSync } from 'node:fs'
import { freePort } from './engines/free-port.ts'
import { startSqsEmulator } from './engines/sqs-emulator.ts'
import { type EventSourcesOptions, startEventSources } from './event-sources.ts'
import { startHttpApi } from './http-api/gateway.ts'
import { createTokenIssuer, type TokenIssuer } from './http-api/token-issuer.ts'
import type { InvocableFunction } from './lambda/invocation.ts'
import { startInvokeApi } from './lambda/invoke-api.ts'
import type { FunctionStart, Platform } from './platform/platform.ts'
import { runnablePart } from './platform/runnable-part.ts'
import { createQueues } from './template/deploy.ts'
import { loadModel } from './template/load.ts'
import type { LocalModel } from './template/model.ts'

const REGION = 'eu-central-1'

type EventSourceSettings = Pick<
  EventSourcesOptions,
  'visibilitySecondsOf' | 'scheduleEverySeconds' | 'afterSuccess' | 'onBatch' | 'onScheduledRun'
>

/** Options of {@link startLocalService}. */
export interface LocalServiceOptions extends EventSourceSettings {
  /** The cloud assembly, `cdk.out`. */
  readonly assemblyDirectory: string
  readonly logDirectory: string
  /** Stopped with the service. */
  readonly platform: Platform
  /** Replaces variables the template gives its functions (those that have them). */
  readonly environmentOverrides: { readonly [name: string]: string }
  /** Invocations of a function at once at most, where the template sets no limit. @defaultValue 8 */
  readonly maxEnvironments?: number
  /** @defaultValue a free port */
  readonly apiPort?: number
  /** Sees every line a function writes. */
  readonly onLine?: (functionName: string, line: string) => void
}

/** The synthesized service, running on this machine. */
export interface LocalService {
  /** What of the template runs here. */
  readonly model: LocalModel
  /** What the platform cannot run, in words. */
  readonly leftOut: readonly string[]
  readonly apiEndpoint: string
  readonly sqsEndpoint: string
  /** Where functions are invoked. */
  readonly lambdaEndpoint: string
  readonly tokens: TokenIssuer
  /** No stream has a record left, as far as its poller has looked. */
  streamsAreIdle(): boolean
  /** Takes no new batch and runs no schedule; resolves when what is in flight is done. */
  stopPolling(): Promise<void>
  /** Stops everything. */
  stop(): Promise<void>
}

/**
 * Starts the queues, creates what the template says, and runs its functions with all that leads to them: routes, queues,
 * streams and schedules.
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
    const whole = loadModel(options.assemblyDirectory, { region: REGION, sqsEndpoint: sqs.endpoint, apiEndpoint })
    const { model, leftOut } = runnablePart(whole, options.platform)
    await Promise.all([options.platform.createTables(model), createQueues(model, sqs.endpoint)])

    let functions: ReadonlyMap<string, InvocableFunction> = new Map()
    const invokeApi = await startInvokeApi((name) => functions.get(name))
    running.push(invokeApi)
    functions = startFunctions(model, { sqsEndpoint: sqs.endpoint, lambdaEndpoint: invokeApi.endpoint }, options)
    running.push({ stop: async () => void (await Promise.all([...functions.values()].map((one) => one.stop()))) })

    const tokens = await createTokenIssuer()
    const functionNamed = (name: string): InvocableFunction => {
      const found = functions.get(name)
      if (found === undefined) throw new Error(`no function ${name} in the template`)
      return found
    }
    const api = await startHttpApi({
      routes: model.routes,
      tokens,
      invoke: (functionName, event) => functionNamed(functionName).invoke(event),
      port: apiPort,
    })
    running.push(api)

    const { dynamoDbEndpoint } = options.platform
    const sources = await startEventSources({
      ...options,
      model,
      sqsEndpoint: sqs.endpoint,
      dynamoDbEndpoint,
      functionNamed,
    })
    running.push({ stop: sources.stop })
    return Object.freeze({
      model,
      leftOut,
      apiEndpoint,
      sqsEndpoint: sqs.endpoint,
      lambdaEndpoint: invokeApi.endpoint,
      tokens,
      streamsAreIdle: sources.streamsAreIdle,
      stopPolling: sources.stop,
      stop,
    })
  } catch (error) {
    // What failed first is the news; a failure to stop after it is not.
    await stop().catch(() => undefined)
    throw error
  }
}

function startFunctions(
  model: LocalModel,
  endpoints: Pick<FunctionStart, 'sqsEndpoint' | 'lambdaEndpoint'>,
  options: LocalServiceOptions,
): ReadonlyMap<string, InvocableFunction> {
  const { platform, logDirectory, maxEnvironments } = options
  rmSync(logDirectory, { recursive: true, force: true })
  return new Map(
    model.functions.map((definition) => {
      const overrides = Object.fromEntries(
        Object.entries(options.environmentOverrides).filter(([name]) => name in definition.environment),
      )
      const onLine = (line: string): void => options.onLine?.(definition.name, line)
      const start = { definition, model, ...endpoints, overrides, logDirectory, maxEnvironments, onLine }
      return [definition.name, platform.startFunction(start)]
    }),
  )
}
