import middy from '@middy/core'
import httpErrorHandler from '@middy/http-error-handler'
import type { Context } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { type Disposition, type IdempotencyOptions, type Operation, StepNotAwaitedError } from '../../lib/index.ts'
import { httpEvent, lambdaContext, restEvent } from './events.ts'
import { type Answered, deferred, headerOf, type Setup, setUp } from './harness.ts'

type Handler = (event: unknown, context?: Context) => Promise<Answered>
type Work = (event: never, context: { readonly operation: Operation }) => unknown

const forms: [string, (setup: Setup, fn: Work) => Handler][] = [
  ['the wrapper', ({ serve }, fn) => serve(fn)],
  [
    'the middleware',
    ({ middleware }, fn) => {
      const handler = middy()
        .use(middleware as middy.MiddlewareObj)
        .handler(fn as never) as unknown as Handler
      return (event, context = lambdaContext()) => handler(event, context)
    },
  ],
]

describe.each(forms)('%s', (_, make) => {
  describe('a step that still runs when the handler returns', () => {
    function unawaited(setup: Setup) {
      const gate = deferred<string>()
      let runs = 0
      const handler = make(setup, (_event, { operation }) => {
        runs += 1
        void operation.step('slow', () => gate.promise).catch(() => undefined)
        setTimeout(gate.resolve, 1, 'x')
        return { statusCode: 200, body: 'too early' }
      })
      return { handler, runs: () => runs }
    }

    test('is an error, stored as the failure, and not run again', async () => {
      const setup = setUp()
      const { handler, runs } = unawaited(setup)
      await expect(handler(httpEvent())).rejects.toThrow(StepNotAwaitedError)
      expect(setup.store.records()).toMatchObject([
        { status: 'FAILED', outcome: { failure: { code: 'STEP_NOT_AWAITED' } } },
      ])
      expect(setup.store.records()[0]).not.toHaveProperty('leaseUntil', expect.any(Number))
      const replay = await handler(httpEvent())
      expect(replay.statusCode).toBe(500)
      expect(headerOf(replay, 'idempotent-replayed')).toBe('true')
      expect(runs()).toBe(1)
    })

    test('is one that onError decides about', async () => {
      const seen: unknown[] = []
      const setup = setUp({}, { onError: (error) => void seen.push(error) })
      const { handler } = unawaited(setup)
      await expect(handler(httpEvent())).rejects.toThrow(StepNotAwaitedError)
      expect(seen).toEqual([expect.any(StepNotAwaitedError)])
    })
  })

  describe('an outcome that turns out to be unknown', () => {
    const stop = { onUnknown: 'stop' } as const
    const reset = () => {
      throw new Error('connection reset')
    }

    test.each<[string, Work]>([
      [
        'in a handler that hides it and returns',
        async (_event, { operation }) => {
          await operation.step('charge', reset, stop).catch((error: unknown) => {
            if (operation.attempt === 1) throw error
          })
          return { statusCode: 200, body: 'fine' }
        },
      ],
      ['in a handler that lets it through', (_event, { operation }) => operation.step('charge', reset, stop)],
      [
        'in a handler that throws another error for it',
        async (_event, { operation }) => {
          await operation.step('charge', reset, stop).catch((error: unknown) => {
            throw operation.attempt === 1 ? error : Object.assign(new Error('teapot'), { statusCode: 418 })
          })
        },
      ],
    ])('%s: 409 of its own kind, whatever the handler answered', async (__, fn) => {
      const setup = setUp()
      const handler = make(setup, fn)
      await expect(handler(httpEvent())).rejects.toThrow('connection reset')
      expect(setup.store.records()).toMatchObject([{ status: 'RETRYABLE' }])
      const answer = await handler(httpEvent())
      expect(setup.store.records()).toMatchObject([{ status: 'UNKNOWN', attempt: 2 }])
      expect(answer.statusCode).toBe(409)
      expect(JSON.parse(answer.body).type).toMatch(/outcome-unknown$/)
      expect(headerOf(answer, 'idempotent-replayed')).toBeUndefined()
      expect(await handler(httpEvent())).toEqual(answer)
    })
  })

  describe('a response that cannot be stored is a failure, not run again, whatever', () => {
    test.each<[string, Partial<IdempotencyOptions>]>([
      ...(['release', 'resume', 'keep', 'fail'] satisfies Disposition[]).map(
        (disposition): [string, Partial<IdempotencyOptions>] => [
          `onError: () => '${disposition}'`,
          { onError: () => disposition },
        ],
      ),
      ["effects: 'steps-only'", { effects: 'steps-only' }],
    ])('%s', async (__, core) => {
      const setup = setUp({}, core)
      let runs = 0
      const handler = make(setup, () => {
        runs += 1
        return { statusCode: 200, body: { total: 1n } }
      })
      expect(await handler(httpEvent())).toEqual({ statusCode: 200, body: { total: 1n } })
      expect(setup.store.records()).toMatchObject([
        { status: 'FAILED', outcome: { failure: { code: 'OUTCOME_UNSTORABLE' } } },
      ])
      expect(JSON.parse((await handler(httpEvent())).body).type).toMatch(/outcome-not-kept$/)
      expect(runs).toBe(1)
    })

    test("onStripped: 'refuse'", async () => {
      const setup = setUp({ onStripped: 'refuse' }, { onError: () => 'release', effects: 'steps-only' })
      const handler = make(setup, () => ({ statusCode: 200, headers: { 'Set-Cookie': 'a=b' }, body: '' }))
      expect(headerOf(await handler(restEvent()), 'set-cookie')).toBe('a=b')
      expect(setup.store.records()).toMatchObject([
        { status: 'FAILED', outcome: { failure: { code: 'OUTCOME_UNSTORABLE' } } },
      ])
    })
  })
})

test('an error middleware’s answer gives way to the unknown outcome', async () => {
  const setup = setUp()
  const handler = middy()
    .use([setup.middleware, httpErrorHandler({ logger: false })] as middy.MiddlewareObj[])
    .handler(((_event: unknown, { operation }: { operation: Operation }) =>
      operation.step(
        'charge',
        () => {
          throw new Error('connection reset')
        },
        { onUnknown: 'stop' },
      )) as never) as unknown as Handler
  expect((await handler(httpEvent(), lambdaContext())).statusCode).toBe(500)
  const answer = await handler(httpEvent(), lambdaContext())
  expect(answer.statusCode).toBe(409)
  expect(JSON.parse(answer.body).type).toMatch(/outcome-unknown$/)
})
