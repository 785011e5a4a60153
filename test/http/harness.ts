import type { Context } from 'aws-lambda'
import { type IdempotentHttpOptions, idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { createIdempotency, type IdempotencyOptions, type OperationEvent, StoreError } from '../../lib/index.ts'
import { type MemoryStore, memoryStore } from '../../lib/memory/index.ts'
import { lambdaContext } from './events.ts'

/** A response of any source, as an assertion looks at it. */
export interface Answered {
  statusCode: number
  statusDescription?: string
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, string[]>
  cookies?: string[]
  body: string
  isBase64Encoded?: boolean
}

/** A memory store that counts what is asked of it, and can be taken down. */
export interface WatchedStore extends MemoryStore {
  readonly calls: string[]
  down: boolean
}

export function watchedStore(): WatchedStore {
  const store = memoryStore()
  const calls: string[] = []
  const watched: Record<string, unknown> = { ...store, calls, down: false }
  for (const name of ['put', 'update', 'get', 'putParts', 'getParts'] as const) {
    watched[name] = async (...args: unknown[]) => {
      calls.push(name)
      if (watched.down) throw new StoreError('The store is down.', { retryable: true })
      return (store[name] as (...args: unknown[]) => Promise<unknown>)(...args)
    }
  }
  return watched as unknown as WatchedStore
}

type HttpOptions = Omit<IdempotentHttpOptions<never>, 'idempotency'>

export interface Setup {
  readonly store: WatchedStore
  readonly events: OperationEvent[]
  readonly options: IdempotentHttpOptions
  readonly middleware: ReturnType<typeof idempotentHttp>
  /** The wrapper around a function, called with a context of its own each time. */
  serve(fn: (event: never, context: never) => unknown): (event: unknown, context?: Context) => Promise<Answered>
}

export function setUp(http: HttpOptions = {}, core: Partial<IdempotencyOptions> = {}): Setup {
  const store = watchedStore()
  const events: OperationEvent[] = []
  const idempotency = createIdempotency({
    store,
    namespace: 'orders',
    observer: (event) => events.push(event),
    ...core,
  })
  const options = { idempotency, ...http } as IdempotentHttpOptions
  return {
    store,
    events,
    options,
    middleware: idempotentHttp(options),
    serve(fn) {
      const handler = idempotent(options, fn as never) as unknown as (
        event: unknown,
        context: Context,
      ) => Promise<Answered>
      return (event, context = lambdaContext()) => handler(event, context)
    },
  }
}

/** A header's value, in either container and any case. */
export function headerOf(answer: Answered, name: string): string | undefined {
  const all = [...Object.entries(answer.headers ?? {}), ...Object.entries(answer.multiValueHeaders ?? {})]
  return all.find(([there]) => there.toLowerCase() === name.toLowerCase())?.[1]?.toString()
}

/** A promise and the functions that settle it. */
export const deferred = <T = void>() => Promise.withResolvers<T>()

/** An answer without the marks of a replay. */
export function unmarked(answer: Answered): Answered {
  const without = <V>(map: Record<string, V> | undefined) =>
    map && Object.fromEntries(Object.entries(map).filter(([name]) => name !== 'Idempotent-Replayed'))
  const bare = { ...answer }
  if (answer.headers) bare.headers = without(answer.headers) as Record<string, string>
  if (answer.multiValueHeaders) bare.multiValueHeaders = without(answer.multiValueHeaders) as Record<string, string[]>
  return bare
}
