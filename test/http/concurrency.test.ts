import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import { expect, test } from 'vitest'
import { httpEvent, lambdaContext, restEvent, SOURCES } from './events.ts'
import { type Answered, headerOf, setUp, unmarked } from './harness.ts'

type Handler = (event: unknown, context: Context) => Promise<Answered>
const pause = () => new Promise((resolve) => setImmediate(resolve))

test('many requests in one process never mix their state, though they share a context object', async () => {
  const { middleware, serve, store } = setUp()
  const context = lambdaContext()
  const answer = async (event: { headers: Record<string, string> }, { operation }: { operation: { key: string } }) => {
    await pause()
    return { statusCode: 200, headers: {}, body: `${event.headers['x-n']} ${operation.key}` }
  }
  const chained = middy()
    .use(middleware as middy.MiddlewareObj)
    .handler(answer as never) as unknown as Handler
  const wrapped = serve(answer)
  const numbers = Array.from({ length: 300 }, (_, n) => n)
  const answers = await Promise.all(
    numbers.map((n) =>
      (n % 2 === 0 ? chained : wrapped)(httpEvent({ key: `key-${n}`, headers: { 'x-n': String(n) } }), context),
    ),
  )
  expect(answers.map(({ body }) => body)).toEqual(numbers.map((n) => `${n} key-${n}`))
  expect(store.records()).toHaveLength(300)
})

test('50 parallel requests with one key: one effect, everybody else 409, then all the same answer', async () => {
  for (const make of [httpEvent, restEvent]) {
    const { serve, events } = setUp()
    let effects = 0
    const handler = serve(async () => {
      effects += 1
      await pause()
      return { statusCode: 201, headers: {}, body: crypto.randomUUID() }
    })
    const answers = await Promise.all(Array.from({ length: 50 }, () => handler(make())))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, ...Array(49).fill(409)])
    const first = answers.find(({ statusCode }) => statusCode === 201)!
    for (let i = 0; i < 3; i++) expect(unmarked(await handler(make()))).toEqual(first)
    expect(effects).toBe(1)
    expect(events.filter(({ type }) => type === 'store-error')).toEqual([])
  }
})

test('with inFlight the others wait, and get the original’s answer', async () => {
  const { serve } = setUp({}, { inFlight: { waitSeconds: 5 } })
  const handler = serve(async () => {
    await pause()
    return { statusCode: 201, headers: {}, body: crypto.randomUUID() }
  })
  const answers = await Promise.all(Array.from({ length: 10 }, () => handler(httpEvent())))
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
  expect(answers.filter((answer) => headerOf(answer, 'Idempotent-Replayed') === 'true')).toHaveLength(9)
})

test('one middleware serves every source at once', async () => {
  const { serve, store } = setUp({ anonymous: true })
  const handler = serve(() => ({ statusCode: 200, headers: {}, body: 'x' }))
  const paths = Object.values(SOURCES).map((make, n) => make({ path: `/${n}` }))
  const answers = await Promise.all(paths.map((event) => handler(event)))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(paths.map(() => 200))
  expect(store.records()).toHaveLength(paths.length)
})
