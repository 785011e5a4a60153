import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { idempotent } from '../../lib/http/index.ts'
import { createIdempotency, isLambdaOnceError } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { copyOf, FUZZ_EVENTS, mutated, mutations, reordered } from '../sources/mutations.ts'
import { type Asked, lambdaContext, SOURCES } from './events.ts'
import { type Answered, headerOf } from './harness.ts'

const HEADERS = { accept: 'text/html', 'x-forwarded-for': '192.0.2.1' }
const QUERY = { page: ['1', '2'] }

function consume(isAnonymous: boolean) {
  const store = memoryStore()
  const idempotency = createIdempotency({ store, clock: fakeClock(), namespace: 'fuzz' })
  const keys: string[] = []
  const handler = idempotent(
    { idempotency, ...(isAnonymous && { anonymous: true }) },
    (_event: unknown, { operation }) => {
      keys.push(operation.key)
      return { statusCode: 201, headers: { 'x-run': String(keys.length) }, body: '' }
    },
  )
  return {
    store,
    keys,
    /** The answer, or what the set-up was refused with. */
    async ask(event: unknown): Promise<Answered | undefined> {
      try {
        return (await handler(copyOf(event), lambdaContext())) as Answered
      } catch (error) {
        if (!isLambdaOnceError(error)) throw error
        // INVALID_INPUT: a body that is no text, and nested too deeply to be told from another.
        expect(['INVALID_EVENT', 'INVALID_OPTION', 'INVALID_INPUT']).toContain(error.code)
        return undefined
      }
    },
  }
}

describe.each(Object.entries(SOURCES))('%s', (name, make) => {
  const isAnonymous = name.startsWith('ALB')
  const event = (asked: Asked = {}): unknown => make({ headers: HEADERS, query: QUERY, ...asked })

  test('changed anyhow: a typed answer to each, and no claim without a key', async () => {
    const perRun = 10
    await fc.assert(
      fc.asyncProperty(fc.array(mutations, { minLength: perRun, maxLength: perRun }), async (rounds) => {
        const { ask, keys, store } = consume(isAnonymous)
        for (const changes of rounds) {
          const answer = await ask(mutated(event(), changes))
          if (answer !== undefined && ![201, 400, 409, 422].includes(answer.statusCode)) {
            throw new Error(`Answered ${answer.statusCode}`)
          }
        }
        expect(keys.filter((key) => key.trim() === '')).toEqual([])
        expect(store.records().length).toBeLessThanOrEqual(keys.length)
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / perRun) },
    )
  })

  /** Whatever a client asks for otherwise is another request, or another operation. */
  const others: fc.Arbitrary<Asked> = fc.oneof(
    fc.jsonValue().map((value): Asked => ({ body: JSON.stringify({ changed: value }) })),
    fc.string({ unit: 'grapheme' }).map((text): Asked => ({ body: `${text}!` })),
    fc.webPath({ size: 'xsmall' }).map((path): Asked => ({ path: `/other${path}` })),
    fc.stringMatching(/^[a-z0-9]{1,5}$/).map((value): Asked => ({ query: { page: ['1', `${value}x`] } })),
    fc.constantFrom<Asked>(
      { method: 'PATCH' },
      { query: {} },
      { body: null },
      { headers: { ...HEADERS, 'content-type': 'text/plain' } },
    ),
    ...(isAnonymous ? [] : [fc.stringMatching(/^[a-z]{1,5}$/).map((sub): Asked => ({ sub }))]),
  )

  test('another request under the same key never gets the first one’s answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(others, { minLength: 10, maxLength: 10 }), async (changed) => {
        const { ask } = consume(isAnonymous)
        expect((await ask(event()))?.statusCode).toBe(201)
        for (const asked of changed) {
          const answer = await ask(event(asked))
          if (answer === undefined || headerOf(answer, 'x-run') === '1') throw new Error(JSON.stringify(asked))
        }
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / 10 / 4) },
    )
  })

  test('a changed copy of a request never gets its answer, unless it asks for the same', async () => {
    const perRun = 5
    await fc.assert(
      fc.asyncProperty(fc.array(mutations, { minLength: perRun, maxLength: perRun }), async (rounds) => {
        const { ask } = consume(isAnonymous)
        expect((await ask(event()))?.statusCode).toBe(201)
        for (const changes of rounds) {
          const given = mutated(event(), changes)
          const answer = await ask(given)
          if (answer === undefined || headerOf(answer, 'x-run') !== '1') continue
          if (!isDeepStrictEqual(meaningOf(given), meaningOf(event())))
            throw new Error('Another request got the answer.')
        }
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / perRun / 4) },
    )
  })

  test('with the keys of all objects in another order, those of the body too, it is a repetition', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), async (value) => {
        const { ask, keys } = consume(isAnonymous)
        expect((await ask(event({ body: JSON.stringify(value) })))?.statusCode).toBe(201)
        const again = await ask(reordered(event({ body: JSON.stringify(reordered(value)) })))
        expect([again?.statusCode, keys.length]).toEqual([201, 1])
        expect(headerOf(again as Answered, 'idempotent-replayed')).toBe('true')
      }),
      { numRuns: Math.ceil(FUZZ_EVENTS / 100) },
    )
  })
})

/** What a request asks for and who asks, read without the toolkit. */
function meaningOf(event: unknown): unknown {
  const { httpMethod, path, rawPath, body, isBase64Encoded, requestContext, ...rest } = Object(event)
  const { http, authorizer } = Object(requestContext)
  const types = [rest.headers, rest.multiValueHeaders].flatMap((map) => texts({ type: Object(map)['content-type'] }))
  return {
    method: String(http?.method ?? httpMethod).toUpperCase(),
    path: rawPath ?? path,
    query: rest.rawQueryString ?? texts(rest.multiValueQueryStringParameters ?? rest.queryStringParameters),
    type: types[0]?.[1],
    body: parsed(isBase64Encoded === true ? Buffer.from(String(body), 'base64').toString() : body),
    who: [authorizer?.jwt?.claims?.sub, authorizer?.claims?.sub, authorizer?.iam?.userArn],
  }
}

/** Names and values; a gateway has no others than texts. */
function texts(map: unknown): string[][] {
  return Object.entries(Object(map)).flatMap(([name, value]) =>
    [value].flat().flatMap((item) => (item === undefined || typeof item === 'object' ? [] : [[name, String(item)]])),
  )
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return text
  }
}
