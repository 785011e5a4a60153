import middy from '@middy/core'
import httpCors from '@middy/http-cors'
import type { Context } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import type { HttpAnswer } from '../../lib/http/index.ts'
import { CommitConflictError, type Operation, type Store, StoreError } from '../../lib/index.ts'
import { type MemoryStore, memoryStore, type Transact } from '../../lib/memory/index.ts'
import { WRITE } from '../core/commit-harness.ts'
import { httpEvent, lambdaContext, restEvent, SOURCES } from './events.ts'
import { type Answered, headerOf, setUp, unmarked } from './harness.ts'

type Handler = (event: unknown, context?: Context) => Promise<Answered>
type Work = (event: never, context: { readonly operation: Operation }) => unknown
type HttpOptions = Parameters<typeof setUp>[0]

const RESPONSE = Object.freeze({
  statusCode: 201,
  headers: Object.freeze({ 'Content-Type': 'application/json' }),
  body: '{"id":7}',
})
const PLAN = { writes: [WRITE], receipt: 'ch_1' }
const ALB_SCOPE = { scope: () => 'all' }
const INVOCATION = () => lambdaContext(5_000)
const cors = () => httpCors({ origin: 'https://shop.example' })

/** A handler over a store of its own, some of whose calls can be made to fail. */
function world(
  http: HttpOptions,
  work: Work,
  { transact, others = [] }: { transact?: Transact; others?: unknown[] } = {},
) {
  const memory: MemoryStore = memoryStore(transact === undefined ? {} : { transact })
  const failing = new Set<string>()
  const calls: string[] = []
  const store: Store = {
    ...memory,
    async update(...args) {
      calls.push(args[2].kind)
      if (failing.has(args[2].kind)) throw new StoreError('The store is gone.', { retryable: false })
      return memory.update(...args)
    },
  }
  const setup = setUp(http, { store })
  const wrapped = setup.serve(work as never)
  const chained = middy()
    .use([setup.middleware, ...others] as middy.MiddlewareObj[])
    .handler(work as never) as unknown as Handler
  return {
    ...setup,
    memory,
    calls,
    failing,
    handlers: { wrapper: wrapped, middleware: (event, context = lambdaContext()) => chained(event, context) } as Record<
      'wrapper' | 'middleware',
      Handler
    >,
    record: () => memory.records()[0],
  }
}

describe.each(['wrapper', 'middleware'] as const)('a handler that commits, in the %s', (form) => {
  test('and returns the committed response costs no write more, and is replayed byte for byte', async () => {
    const w = world({}, (_event, { operation }) => operation.commit(RESPONSE, PLAN))
    const first = await w.handlers[form](restEvent())
    expect(first).toEqual(RESPONSE)
    expect(w.calls).toEqual([])
    const second = await w.handlers[form](restEvent())
    expect(headerOf(second, 'Idempotent-Replayed')).toBe('true')
    expect(unmarked(second)).toEqual(first)
    expect(w.memory.commits()).toHaveLength(1)
  })

  test('a value, and returns a response of its own, is replayed with that', async () => {
    const w = world({}, async (_event, { operation }) => {
      await operation.commit({ id: 7 }, PLAN)
      return RESPONSE
    })
    const first = await w.handlers[form](restEvent())
    expect(w.calls).toEqual(['committed'])
    expect(unmarked(await w.handlers[form](restEvent()))).toEqual(first)
    expect(w.events.map(({ type }) => type)).not.toContain('hook-failed')
  })

  test('and returns nothing is answered with what it committed', async () => {
    const w = world({}, async (_event, { operation }) => {
      await operation.commit(RESPONSE, PLAN)
    })
    for (const _ of [1, 2]) expect(unmarked(await w.handlers[form](httpEvent()))).toEqual(RESPONSE)
  })

  test('and throws afterwards is answered with what it committed', async () => {
    const w = world({}, async (_event, { operation }) => {
      await operation.commit(RESPONSE, PLAN)
      throw new Error('after the commit')
    })
    for (const _ of [1, 2]) expect(unmarked(await w.handlers[form](restEvent()))).toEqual(RESPONSE)
    expect(w.record()?.status).toBe('COMPLETED')
    expect(w.memory.commits()).toHaveLength(1)
  })

  test('loses nothing when its response cannot be added', async () => {
    const render = ({ id }: { id: number }): HttpAnswer => ({ statusCode: 200, body: `order ${id}` })
    const w = world({ render: render as never }, async (_event, { operation }) => {
      await operation.commit({ id: 7 }, PLAN)
      return RESPONSE
    })
    w.failing.add('committed')
    expect(await w.handlers[form](restEvent(), INVOCATION())).toEqual(RESPONSE)
    expect(w.events).toContainEqual(expect.objectContaining({ type: 'store-error', during: 'complete' }))
    expect(unmarked(await w.handlers[form](restEvent())).body).toBe('order 7')
  })

  test('with a header that only the first caller gets is replayed without it', async () => {
    const response = { ...RESPONSE, headers: { ...RESPONSE.headers, 'Set-Cookie': 'session=1' } }
    const w = world({}, (_event, { operation }) => operation.commit(response, PLAN))
    expect(headerOf(await w.handlers[form](restEvent()), 'Set-Cookie')).toBe('session=1')
    const second = await w.handlers[form](restEvent())
    expect(headerOf(second, 'Set-Cookie')).toBeUndefined()
    expect(headerOf(second, 'Idempotent-Replayed')).toBe('true; stripped="set-cookie"')
  })

  test('and has a response that may not be stored, gives that to its first caller', async () => {
    const response = { ...RESPONSE, headers: { 'Set-Cookie': 'session=1' } }
    const w = world({ onStripped: 'refuse' }, async (_event, { operation }) => {
      await operation.commit({ id: 7 }, PLAN)
      return response
    })
    expect(await w.handlers[form](restEvent())).toEqual(response)
    expect((await w.handlers[form](restEvent())).body).toContain('outcome-not-kept')
    expect(w.record()?.status).toBe('COMPLETED')
  })

  test('against a condition may answer that, and the answer is stored', async () => {
    const transact: Transact = () => [{ index: 0, isStale: false }]
    const w = world(
      {},
      async (_event, { operation }) => {
        try {
          return await operation.commit(RESPONSE, PLAN)
        } catch (error) {
          if (!(error instanceof CommitConflictError)) throw error
          return { statusCode: 409, body: 'taken' }
        }
      },
      { transact },
    )
    for (const _ of [1, 2])
      expect(await w.handlers[form](restEvent())).toMatchObject({ statusCode: 409, body: 'taken' })
    expect(w.record()?.status).toBe('COMPLETED')
  })

  test('without a key, where it is optional, is told why it cannot', async () => {
    const w = world({ key: 'optional' }, (_event, { operation }) => operation.commit(RESPONSE, PLAN))
    await expect(w.handlers[form](restEvent({ key: undefined }))).rejects.toThrow(/operation.commit needs a claim/)
    expect(w.memory.records()).toEqual([])
  })
})

describe('a replay of a commit whose process ended before its answer', () => {
  const crashed = (http: HttpOptions, value: unknown) => {
    const w = world(http, async (_event, { operation }) => {
      await operation.commit(value, PLAN)
      return new Promise(() => undefined)
    })
    return {
      ...w,
      async replay(event: unknown) {
        void w.handlers.wrapper(event)
        while (w.record()?.status !== 'COMPLETED') await new Promise((resolve) => setImmediate(resolve))
        return w.handlers.wrapper(event)
      },
    }
  }

  test.each(Object.entries(SOURCES))('is the committed response, from %s', async (source, event) => {
    const { replay } = crashed(source.startsWith('ALB') ? ALB_SCOPE : {}, RESPONSE)
    expect(await replay(event())).toMatchObject({ statusCode: 201, body: '{"id":7}' })
  })

  test.each(Object.entries(SOURCES))('is what render makes of the value, from %s', async (source, event) => {
    const render = ({ id }: { id: number }): HttpAnswer => ({ statusCode: 201, body: `order ${id}` })
    const scope = source.startsWith('ALB') ? ALB_SCOPE : {}
    const { replay } = crashed({ ...scope, render: render as never }, { id: 7 })
    const answer = await replay(event())
    expect(answer).toMatchObject({ statusCode: 201, body: 'order 7' })
    expect(headerOf(answer, 'Idempotent-Replayed')).toBe('true')
  })

  test('is the value itself, where the gateway takes one', async () => {
    const { replay } = crashed({}, { id: 7 })
    expect(await replay(httpEvent())).toMatchObject({ statusCode: 200, body: '{"id":7}' })
  })

  test.each<[string, unknown]>([
    ['an object that is no response', { id: 7 }],
    ['a text', 'ch_1'],
    ['nothing', undefined],
  ])('is a problem where %s cannot be answered, never an empty response', async (_name, value) => {
    const { replay } = crashed({}, value)
    const answer = await replay(restEvent())
    expect(answer.statusCode).toBe(500)
    expect(answer.body).toContain('outcome-not-kept')
  })

  test.each<[string, () => HttpAnswer]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['is async', (async () => RESPONSE) as never],
    ['gives no response', () => 'text' as never],
  ])('is a problem when render %s, and the observer hears of it', async (_name, render) => {
    const { replay, events, record } = crashed({ render: render as never }, { id: 7 })
    expect((await replay(restEvent())).body).toContain('outcome-not-kept')
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'hook-failed', hook: 'render', operationId: record()?.id }),
    )
  })
})

describe('middlewares behind ours', () => {
  test('change the response of a commit, and the replay is the changed one', async () => {
    const work: Work = (_event, { operation }) => operation.commit(structuredClone(RESPONSE), PLAN)
    const w = world({}, work, { others: [cors()] })
    const first = await w.handlers.middleware(restEvent({ headers: { Origin: 'https://shop.example' } }))
    expect(headerOf(first, 'Access-Control-Allow-Origin')).toBe('https://shop.example')
    const second = await w.handlers.middleware(restEvent({ headers: { Origin: 'https://shop.example' } }))
    expect(headerOf(second, 'Access-Control-Allow-Origin')).toBe('https://shop.example')
    expect(second.body).toBe(first.body)
    expect(w.calls).toEqual(['committed'])
  })

  test('that throw after a commit do not undo it', async () => {
    const broken = {
      after: () => {
        throw new Error('serializer')
      },
    }
    const w = world({}, (_event, { operation }) => operation.commit(RESPONSE, PLAN), { others: [broken] })
    for (const _ of [1, 2]) expect(unmarked(await w.handlers.middleware(restEvent()))).toEqual(RESPONSE)
    expect(w.record()?.status).toBe('COMPLETED')
    expect(w.memory.commits()).toHaveLength(1)
  })
})
