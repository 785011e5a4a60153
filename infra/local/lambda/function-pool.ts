import { randomUUID } from 'node:crypto'
import type { LocalFunction } from '../template/model.ts'
import { type ExecutionEnvironment, startEnvironment } from './environment.ts'
import type { FunctionPlace } from './environment-variables.ts'
import { openFunctionLog } from './function-log.ts'
import type { InvocableFunction } from './invocation.ts'

// Lambda's default is a thousand; a laptop holds a few dozen Node.js processes.
export const DEFAULT_MAX_ENVIRONMENTS = 8

/** Options of {@link createFunctionPool}. */
export interface FunctionPoolOptions {
  readonly definition: LocalFunction
  readonly place: FunctionPlace
  /** Directory of the function's log file, `<name>.log`. */
  readonly logDirectory: string
  /** How many invocations run at once at most; the template's reserved concurrency wins. @defaultValue 8 */
  readonly maxEnvironments?: number
  /** Sees every line the function writes. */
  readonly onLine?: (line: string) => void
}

/** A function with its execution environments; an invocation runs in a frozen one, if there is one, else in a new one. */
export interface FunctionPool extends InvocableFunction {
  /** The environments with an invocation in flight. */
  busy(): readonly ExecutionEnvironment[]
  /** How many processes were started so far. */
  started(): number
}

/** Makes the pool of a function's execution environments; none is started before the first invocation. */
export function createFunctionPool(options: FunctionPoolOptions): FunctionPool {
  const { definition } = options
  const limit = definition.reservedConcurrency ?? options.maxEnvironments ?? DEFAULT_MAX_ENVIRONMENTS
  const all = new Set<ExecutionEnvironment>()
  // Last in, first out: as in Lambda, the environment used last is the one most likely to be used again.
  const idle: ExecutionEnvironment[] = []
  let starting = 0
  let started = 0
  let stopped = false
  const log = openFunctionLog(options.logDirectory, definition.name)

  const listener = {
    onIdle: (environment: ExecutionEnvironment) => {
      idle.push(environment)
    },
    onGone: (environment: ExecutionEnvironment) => {
      all.delete(environment)
      const position = idle.indexOf(environment)
      if (position >= 0) idle.splice(position, 1)
    },
    onLine: (line: string) => {
      log.line(line)
      options.onLine?.(line)
    },
  }

  const obtain = async (): Promise<ExecutionEnvironment | undefined> => {
    const frozen = idle.pop()
    if (frozen) return frozen
    if (all.size + starting >= limit) return undefined
    starting += 1
    started += 1
    try {
      const environment = await startEnvironment(definition, options.place, listener)
      all.add(environment)
      return environment
    } finally {
      starting -= 1
    }
  }

  return Object.freeze({
    definition,
    invoke: async (event: unknown) => {
      if (stopped) throw new Error(`${definition.name} has been stopped`)
      const environment = await obtain()
      if (environment === undefined) return { kind: 'throttled' as const }
      const requestId = randomUUID()
      log.started(requestId, `pid ${environment.pid}`)
      const result = await environment.invoke(event, requestId)
      log.ended(requestId, result)
      return result
    },
    busy: () => [...all].filter((environment) => environment.busyWith !== undefined),
    started: () => started,
    stop: async () => {
      stopped = true
      await Promise.all([...all].map((environment) => environment.stop()))
      await log.close()
    },
  })
}
