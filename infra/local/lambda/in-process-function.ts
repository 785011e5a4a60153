import { randomUUID } from 'node:crypto'
import type { Context } from 'aws-lambda'
import type { LocalFunction } from '../template/model.ts'
import type { CapturedOutput } from './captured-output.ts'
import { openFunctionLog } from './function-log.ts'
import { DEFAULT_MAX_ENVIRONMENTS } from './function-pool.ts'
import { failed, type InvocableFunction, type InvocationResult, timedOut } from './invocation.ts'

/** What Lambda's context really has: the callbacks of Node.js 0.10 are gone. */
export type InvocationContext = Omit<Context, 'done' | 'fail' | 'succeed'>

/** Options of {@link createInProcessFunction}. */
export interface InProcessFunctionOptions {
  readonly definition: LocalFunction
  readonly handler: (event: unknown, context: InvocationContext) => unknown
  readonly output: CapturedOutput
  /** Directory of the function's log file, `<name>.log`. */
  readonly logDirectory: string
  /** How many invocations run at once at most; the template's reserved concurrency wins. @defaultValue 8 */
  readonly maxEnvironments?: number | undefined
  /** Sees every line the function writes. */
  readonly onLine?: (line: string) => void
}

/**
 * A function that runs in this process, where the function pool would give it processes of its own.
 * It cannot be killed: after its timeout its caller is told so, and it runs on, beyond its lease.
 */
export function createInProcessFunction(options: InProcessFunctionOptions): InvocableFunction {
  const { definition, handler, output } = options
  const limit = definition.reservedConcurrency ?? options.maxEnvironments ?? DEFAULT_MAX_ENVIRONMENTS
  const log = openFunctionLog(options.logDirectory, definition.name)
  let inFlight = 0
  let stopped = false

  const onLine = (line: string): void => {
    if (!stopped) log.line(line)
    options.onLine?.(line)
  }

  const run = async (event: unknown, requestId: string): Promise<InvocationResult> => {
    try {
      // Through JSON both ways, as over the wire: neither side can change what the other one holds.
      const result = await handler(JSON.parse(JSON.stringify(event)), invocationContext(definition, requestId))
      return { kind: 'returned', requestId, payload: JSON.parse(JSON.stringify(result) ?? 'null') as unknown }
    } catch (error) {
      console.error(error)
      return error instanceof Error
        ? failed(requestId, error.name, error.message)
        : failed(requestId, typeof error, String(error))
    }
  }

  return Object.freeze({
    definition,
    invoke: async (event: unknown) => {
      if (stopped) throw new Error(`${definition.name} has been stopped`)
      if (inFlight >= limit) return { kind: 'throttled' as const }
      inFlight += 1
      const requestId = randomUUID()
      log.started(requestId, 'in process')
      const timeout = Promise.withResolvers<InvocationResult>()
      const timer = setTimeout(() => timeout.resolve(timedOut(requestId, definition)), definition.timeoutSeconds * 1000)
      try {
        const result = await Promise.race([output.run(onLine, () => run(event, requestId)), timeout.promise])
        if (!stopped) log.ended(requestId, result)
        return result
      } finally {
        clearTimeout(timer)
        inFlight -= 1
      }
    },
    stop: async () => {
      stopped = true
      await log.close()
    },
  })
}

function invocationContext(definition: LocalFunction, requestId: string): InvocationContext {
  const deadlineMs = Date.now() + definition.timeoutSeconds * 1000
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: definition.name,
    functionVersion: '$LATEST',
    invokedFunctionArn: definition.arn,
    memoryLimitInMB: String(definition.memoryMegabytes),
    logGroupName: `/aws/lambda/${definition.name}`,
    logStreamName: 'local',
    awsRequestId: requestId,
    getRemainingTimeInMillis: () => deadlineMs - Date.now(),
  }
}
