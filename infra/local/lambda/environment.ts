import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { spawnTied } from '../engines/tied-process.ts'
import type { LocalFunction } from '../template/model.ts'
import { environmentVariables, type FunctionPlace } from './environment-variables.ts'
import { failed, type InvocationResult, timedOut } from './invocation.ts'
import { type ReportedError, startRuntimeApi } from './runtime-api.ts'

// Lambda allows 10 s and then starts over inside the invocation; a loaded laptop gets more, once.
const INIT_TIMEOUT_MS = 30_000

const BOOTSTRAP = fileURLToPath(new URL('./bootstrap.ts', import.meta.url))

/** An execution environment: one process of one function that serves one invocation at a time. */
export interface ExecutionEnvironment {
  readonly pid: number
  /** The invocation it is working on. */
  readonly busyWith: Work | undefined
  /** Thaws the process, hands it the event and resolves with how that ended; the process is then frozen again or gone. */
  invoke(event: unknown, requestId: string): Promise<InvocationResult>
  /** Ends the process; resolves when its last output has been read. */
  stop(): Promise<void>
}

/** An invocation in flight. */
export interface Work {
  readonly requestId: string
  readonly event: unknown
  /** When the process got the event; undefined while it is still in its init phase. */
  readonly deliveredAtMs: number | undefined
}

/** What a pool wants to hear of an environment. */
export interface EnvironmentListener {
  /** It waits, frozen, for its next invocation. */
  onIdle(environment: ExecutionEnvironment): void
  /** Its process has ended. */
  onGone(environment: ExecutionEnvironment): void
  /** It wrote a line to stdout or stderr. */
  onLine(line: string): void
}

interface InFlight extends Work {
  deliveredAtMs: number | undefined
  readonly resolve: (result: InvocationResult) => void
  timeout: NodeJS.Timeout | undefined
  /** Set when the runtime (or the timeout) has spoken; handed on when the process is free again, or gone. */
  result: InvocationResult | undefined
}

/** Starts the process of an execution environment; its first invocation waits for the end of its init phase. */
export async function startEnvironment(
  definition: LocalFunction,
  place: FunctionPlace,
  listener: EnvironmentListener,
): Promise<ExecutionEnvironment> {
  let inFlight: InFlight | undefined
  let deliver: Parameters<Parameters<typeof startRuntimeApi>[0]['onNext']>[0] | undefined
  let initError: ReportedError | undefined
  const initialised = Promise.withResolvers<void>()

  const settle = (requestId: string, result: InvocationResult): boolean => {
    if (inFlight?.requestId !== requestId || inFlight.result) return false
    inFlight.result = result
    return true
  }
  const finish = (): void => {
    if (!inFlight?.result) return
    clearTimeout(inFlight.timeout)
    inFlight.resolve(inFlight.result)
    inFlight = undefined
  }
  const failUnfinished = (how: string): void => {
    if (!inFlight) return
    const { requestId } = inFlight
    const message = `RequestId: ${requestId} Error: Runtime exited with error: ${how}`
    settle(
      requestId,
      failed(requestId, initError?.errorType ?? 'Runtime.ExitError', initError?.errorMessage ?? message),
    )
    finish()
  }
  const api = await startRuntimeApi({
    onNext: (handOver) => {
      deliver = handOver
      // The runtime has nothing left to do: from here Lambda freezes it, timers and open sockets included.
      child.signal('SIGSTOP')
      initialised.resolve()
      const waitsForThis = inFlight !== undefined && inFlight.result === undefined
      // Idle before the answer goes out: who invokes again on the answer gets this process.
      if (!waitsForThis) listener.onIdle(environment)
      finish()
    },
    onResponse: (requestId, body) =>
      settle(requestId, { kind: 'returned', requestId, payload: JSON.parse(body) as unknown }),
    onError: (requestId, error) => settle(requestId, failed(requestId, error.errorType, error.errorMessage)),
    onInitError: (error) => {
      initError = error
    },
  })

  const heapMegabytes = Math.max(96, Math.floor(definition.memoryMegabytes * 0.9))
  const child = spawnTied(process.execPath, [`--max-old-space-size=${heapMegabytes}`, BOOTSTRAP], {
    cwd: definition.codeDirectory,
    env: environmentVariables(definition, place, api.address),
  })
  const drained = [child.stdout, child.stderr].map((stream) => {
    const lines = createInterface({ input: stream }).on('line', listener.onLine)
    return new Promise((resolve) => lines.once('close', resolve))
  })
  void child.exited.then(({ code, signal }) => {
    api.close()
    initialised.resolve()
    deliver = undefined
    listener.onGone(environment)
    failUnfinished(signal === 'SIGKILL' ? 'signal: killed' : signal ? `signal: ${signal}` : `exit status ${code}`)
  })

  const initialise = async (): Promise<void> => {
    const initTimer = setTimeout(() => {
      initError = { errorType: 'Sandbox.InitTimeout', errorMessage: `init took over ${INIT_TIMEOUT_MS / 1000} s` }
      child.signal('SIGKILL')
    }, INIT_TIMEOUT_MS)
    await initialised.promise
    clearTimeout(initTimer)
  }

  const run = async (invocation: InFlight): Promise<void> => {
    const { requestId, event } = invocation
    await initialise()
    if (deliver === undefined) {
      // It ended in its init phase; when that was before this invocation, nobody has answered it.
      failUnfinished('the init phase failed')
      return
    }
    // The clock of an invocation starts after init, as in Lambda.
    invocation.timeout = setTimeout(() => {
      settle(requestId, timedOut(requestId, definition))
      child.signal('SIGKILL')
    }, definition.timeoutSeconds * 1000)
    invocation.deliveredAtMs = Date.now()
    child.signal('SIGCONT')
    deliver({ headers: invocationHeaders(definition, requestId), body: JSON.stringify(event) })
    deliver = undefined
  }

  const environment: ExecutionEnvironment = Object.freeze({
    pid: child.pid,
    get busyWith() {
      return inFlight?.result ? undefined : inFlight
    },
    invoke: (event: unknown, requestId: string) => {
      if (inFlight) throw new Error(`environment ${child.pid} is busy with ${inFlight.requestId}`)
      const { promise, resolve } = Promise.withResolvers<InvocationResult>()
      const invocation: InFlight = {
        requestId,
        event,
        deliveredAtMs: undefined,
        resolve,
        timeout: undefined,
        result: undefined,
      }
      inFlight = invocation
      void run(invocation)
      return promise
    },
    stop: async () => {
      await child.kill()
      await Promise.all(drained)
    },
  })
  return environment
}

function invocationHeaders(definition: LocalFunction, requestId: string): Record<string, string> {
  const trace = `1-${Math.floor(Date.now() / 1000).toString(16)}-${requestId.replaceAll('-', '').slice(0, 24)}`
  return {
    'Lambda-Runtime-Aws-Request-Id': requestId,
    'Lambda-Runtime-Deadline-Ms': String(Date.now() + definition.timeoutSeconds * 1000),
    'Lambda-Runtime-Invoked-Function-Arn': definition.arn,
    'Lambda-Runtime-Trace-Id': `Root=${trace};Sampled=0`,
  }
}
