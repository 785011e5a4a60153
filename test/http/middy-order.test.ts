import middy7 from '@middy/core'
import httpCors from '@middy/http-cors'
import httpErrorHandler from '@middy/http-error-handler'
import httpJsonBodyParser from '@middy/http-json-body-parser'
import httpResponseSerializer from '@middy/http-response-serializer'
import httpSecurityHeaders from '@middy/http-security-headers'
import validator from '@middy/validator'
import type { Context } from 'aws-lambda'
import middy6 from 'middy6'
import { describe, expect, test } from 'vitest'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { albEvent, httpEvent, lambdaContext, restEvent, urlEvent } from './events.ts'
import { type Answered, headerOf, setUp, unmarked } from './harness.ts'

const OTHERS = {
  cors: () => httpCors({ origin: 'https://shop.example' }),
  'error handler': () => httpErrorHandler({ logger: false }),
  'JSON parser': () => httpJsonBodyParser(),
  validator: () => validator({ eventSchema: isOrder as never }),
  'security headers': () => httpSecurityHeaders(),
  'response serializer': () =>
    httpResponseSerializer({
      serializers: [{ regex: /^application\/json$/, serializer: ({ body }) => JSON.stringify(body) }],
      defaultContentType: 'application/json',
    }),
} as const

type Name = keyof typeof OTHERS
const NAMES = Object.keys(OTHERS) as Name[]

/** The parser in front: what the validator sees is parsed. */
const isOrder = Object.assign((event: { body: unknown }) => typeof event.body === 'object', { errors: [] })

const SINGLE_VALUE = [
  ['REST', restEvent],
  ['HTTP', httpEvent],
  ['Function URL', urlEvent],
  ['ALB', albEvent],
] as const

const MIDDY = { 'Middy 7': middy7, 'Middy 6': middy6 as unknown as typeof middy7 }

/** What CORS needs to show the marker is added to replays only. */
function comparable(answer: Answered): Answered {
  const bare = unmarked(answer)
  for (const map of [bare.headers, bare.multiValueHeaders]) {
    if (map !== undefined) delete (map as Record<string, unknown>)['Access-Control-Expose-Headers']
  }
  return bare
}

describe.each(Object.entries(MIDDY))('on %s', (_name, middy) => {
  function served(before: readonly Name[], after: readonly Name[], fn: () => unknown) {
    const { store, options } = setUp({ anonymous: true })
    let runs = 0
    const handler = middy()
      .use([
        ...before.map((name) => OTHERS[name]()),
        idempotentHttp(options),
        ...after.map((name) => OTHERS[name]()),
      ] as middy7.MiddlewareObj[])
      .handler((async () => {
        runs += 1
        return fn()
      }) as never) as unknown as (event: unknown, context: Context) => Promise<Answered>
    return { store, runs: () => runs, serve: (event: unknown) => handler(event, lambdaContext()) }
  }

  /** For the serializer, which leaves a response alone that says its type itself. */
  const created = () => ({ statusCode: 201, body: { id: 1 } })
  const plain = () => ({ statusCode: 201, headers: { 'Content-Type': 'application/json' }, body: '{"id":1}' })

  test.each(SINGLE_VALUE)('first of all of them, its replay is the first answer: %s', async (_source, make) => {
    const { serve, runs } = served([], NAMES, created)
    const first = await serve(make())
    const replay = await serve(make())
    expect(first).toMatchObject({ statusCode: 201, body: '{"id":1}' })
    expect(headerOf(first, 'Access-Control-Allow-Origin')).toBe('https://shop.example')
    expect(headerOf(first, 'X-Content-Type-Options')).toBe('nosniff')
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true')
    expect(comparable(replay)).toEqual(comparable(first))
    expect(runs()).toBe(1)
  })

  test.each(NAMES)('before %s alone, its replay is the first answer', async (name) => {
    const { serve, runs } = served([], name === 'validator' ? ['JSON parser', name] : [name], plain)
    const first = await serve(restEvent())
    expect(comparable(await serve(restEvent()))).toEqual(comparable(first))
    expect(runs()).toBe(1)
  })

  test.each(NAMES)('behind %s alone, a repetition is answered and not run again', async (name) => {
    const { serve, runs } = served(name === 'validator' ? ['JSON parser', name] : [name], [], plain)
    const first = await serve(restEvent())
    const replay = await serve(restEvent())
    expect([first.statusCode, replay.statusCode, runs()]).toEqual([201, 201, 1])
    // What those outside add is added to the first answer only: a value returned by `before` skips their `after`.
    expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true')
  })

  // Middy's own middlewares know nothing of multi-value headers.
  describe.each(SINGLE_VALUE)('inside the chain, around the handler: %s', (_source, make) => {
    function inside(names: readonly Name[], fn: () => unknown) {
      const { options } = setUp({ anonymous: true })
      let runs = 0
      const around = idempotent(options, () => {
        runs += 1
        return fn()
      })
      const handler = middy()
        .use(names.map((name) => OTHERS[name]()) as middy7.MiddlewareObj[])
        .handler(around as never) as unknown as (event: unknown, context: Context) => Promise<Answered>
      return { runs: () => runs, serve: (event: unknown) => handler(event, lambdaContext()) }
    }

    test.each<[string, readonly Name[]]>([
      ['all of them', NAMES],
      [
        'all of them, the other way round',
        ['response serializer', 'security headers', 'JSON parser', 'validator', 'error handler', 'cors'],
      ],
      ...NAMES.filter((name) => name !== 'validator').map((name): [string, readonly Name[]] => [name, [name]]),
    ])('a replay is the first answer, with %s', async (_names, names) => {
      for (const fn of [
        created,
        plain,
        () => ({ statusCode: 200, body: ['a', null] }),
        () => ({ statusCode: 200, body: 'a' }),
      ]) {
        const { serve, runs } = inside(names, fn)
        const first = await serve(make())
        const replay = await serve(make())
        expect(headerOf(replay, 'Idempotent-Replayed')).toBe('true')
        // The marker needs a place, which a response without headers does not have.
        expect(comparable(replay)).toEqual({ headers: {}, ...comparable(first) })
        expect(runs()).toBe(1)
      }
    })

    test('a failure is answered as the chain makes it, both times', async () => {
      const { serve, runs } = inside(['cors', 'security headers', 'error handler'], () => {
        throw Object.assign(new Error('No such item.'), { statusCode: 404, expose: true })
      })
      const [first, replay] = [await serve(make()), await serve(make())]
      expect([first.statusCode, replay.statusCode, runs()]).toEqual([404, 404, 1])
      expect(headerOf(replay, 'Access-Control-Allow-Origin')).toBe(headerOf(first, 'Access-Control-Allow-Origin'))
    })
  })

  test('behind all of them, the order of a body’s keys does not matter although it was parsed before', async () => {
    const { serve, runs } = served(NAMES, [], created)
    await serve(restEvent({ body: '{"a":1,"b":2}' }))
    expect(await serve(restEvent({ body: '{"b":2,"a":1}' }))).toMatchObject({ statusCode: 201 })
    expect(await serve(restEvent({ body: '{"b":2,"a":3}' }))).toMatchObject({ statusCode: 422 })
    expect(runs()).toBe(1)
  })

  test.each<[string, readonly Name[], readonly Name[]]>([
    ['first', [], ['error handler', 'JSON parser', 'validator']],
    ['behind the error handler', ['error handler'], ['JSON parser', 'validator']],
  ])('%s, what the validator refuses does not use the key up', async (_place, before, after) => {
    const { serve, runs, store } = served(before, after, plain)
    expect(await serve(restEvent({ body: '1' }))).toMatchObject({ statusCode: 400 })
    expect(store.records().map(({ status }) => status)).toEqual(['RELEASED'])
    expect(await serve(restEvent({ body: '{"a":1}' }))).toMatchObject({ statusCode: 201 })
    expect(runs()).toBe(1)
  })

  test.each<[string, readonly Name[], readonly Name[]]>([
    ['first', [], ['error handler', 'cors', 'security headers']],
    ['last', ['error handler', 'cors', 'security headers'], []],
  ])('%s, a failure is answered as the chain makes it, and repeated', async (place, before, after) => {
    const { serve, runs } = served(before, after, () => {
      throw Object.assign(new Error('No such item.'), { statusCode: 404, expose: true })
    })
    const first = await serve(restEvent())
    const replay = await serve(restEvent())
    expect([first.statusCode, replay.statusCode, runs()]).toEqual([404, 404, 1])
    if (place === 'first') expect(comparable(replay)).toEqual(comparable(first))
  })
})
