import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { idempotent } from '../../lib/http/index.ts'
import { createIdempotency, isLambdaOnceError, type Scope } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { httpApiEvent, lambdaContext, sqsEvent } from '../../lib/testing/index.ts'
import { type Answered, headerOf } from '../http/harness.ts'

/** What parts of a name are confused by: separators, digits of lengths, both normal forms of letters, nothing at all. */
const piece = fc.constantFrom(
  'a',
  'b',
  '1',
  '2:',
  ':',
  '|',
  '/',
  '#',
  '\u0000',
  '"',
  ',',
  '[',
  ']',
  '\\',
  'é',
  'e\u0301',
  'Å',
  'A\u030a',
  'Å',
  'ﬁ',
  'fi',
  '😀',
  'ß',
  'SS',
  'İ',
  ' ',
  '\u200d',
  '٣',
)
const part = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''))
const anyPart = fc.oneof(
  part,
  fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed()),
)
const scope: fc.Arbitrary<Scope> = fc.oneof(anyPart, fc.array(anyPart, { maxLength: 3 }))
const text = anyPart.filter((one) => one.trim() !== '')
const key = fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 }))
const name = fc.record({ scope, key })
type Name = { readonly scope: Scope; readonly key: string | string[] }

/** One scope is a list of one part. */
const written = ({ scope, key }: Name) => JSON.stringify([[scope].flat(), key])

describe('two tenants', () => {
  test('never meet in a record, an answer, a signal or a receipt, whatever their names are made of', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { selector: written, minLength: 2, maxLength: 6 }), async (names) => {
        const store = memoryStore()
        const { run, receipts } = createIdempotency({ store, namespace: 'n' })
        const answers = names.map(async (one) => {
          const { value } = await run({ ...one, input: 1 }, (operation) =>
            operation.commit(written(one), { receipt: written(one) }),
          )
          expect(value).toBe(written(one))
        })
        await Promise.all(answers)
        expect(new Set(store.records().map(({ id }) => id)).size).toBe(names.length)
        for (const one of names) {
          const { value, replayed } = await run({ ...one, input: 1 }, () => 'another')
          expect([value, replayed]).toEqual([written(one), true])
          expect((await receipts(one)).map(({ value }) => value)).toEqual([written(one)])
        }
      }),
      { numRuns: 300 },
    )
  })

  test('with names as long as anybody likes do not either, and a record is none the larger', async () => {
    const long = fc.tuple(fc.nat(100_000), anyPart).map(([length, end]) => 'x'.repeat(length) + end)
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(long, { minLength: 2, maxLength: 3 }), async (tenants) => {
        const store = memoryStore()
        const { run } = createIdempotency({ store, namespace: 'n' })
        for (const tenant of tenants)
          expect((await run({ scope: tenant, key: 'k', input: 1 }, () => tenant)).value).toBe(tenant)
        for (const { id } of store.records()) expect(id.length).toBe('n#'.length + 43)
      }),
      { numRuns: 50 },
    )
  })

  test('whose name is no text are refused, before anything is stored', async () => {
    const broken = fc
      .tuple(part, fc.constantFrom('\ud800', '\udfff', '\udc00\ud800'), part)
      .map((parts) => parts.join(''))
      .filter((one) => !one.isWellFormed())
    await fc.assert(
      fc.asyncProperty(broken, fc.boolean(), async (lone, inKey) => {
        const store = memoryStore()
        const { run } = createIdempotency({ store, namespace: 'n' })
        const asked = inKey ? { scope: 'a', key: lone } : { scope: ['a', lone], key: 'k' }
        const error = await run({ ...asked, input: 1 }, () => 1).catch((thrown: unknown) => thrown)
        expect(isLambdaOnceError(error, inKey ? 'INVALID_KEY' : 'INVALID_OPTION')).toBe(true)
        expect(store.records()).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  test('of an HTTP API who send the same key and body get each their own answer', async () => {
    const principals = fc.uniqueArray(text, { minLength: 2, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(principals, async (subs) => {
        const idempotency = createIdempotency({ store: memoryStore(), namespace: 'n' })
        const handler = idempotent({ idempotency }, async (event: APIGatewayProxyEventV2) => ({
          statusCode: 200,
          body: JSON.stringify(Object(event.requestContext).authorizer),
        }))
        const ask = (principal: string) =>
          handler(httpApiEvent({ principal, key: 'same', body: 'same' }), lambdaContext()) as Promise<Answered>
        for (const isReplay of [false, true]) {
          for (const sub of subs) {
            const answer = await ask(sub)
            expect(JSON.parse(answer.body).jwt.claims.sub).toBe(sub)
            expect(headerOf(answer, 'idempotent-replayed')).toBe(isReplay ? 'true' : undefined)
          }
        }
      }),
      { numRuns: 100 },
    )
  })

  test('of one queue, told apart by a scope, are both run', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(text, { minLength: 2, maxLength: 4 }), async (tenants) => {
        const idempotency = createIdempotency({ store: memoryStore(), namespace: 'n' })
        const ran: string[] = []
        const handler = batchHandler<{ tenant: string }>(
          { idempotency, scope: ({ body }) => body.tenant, key: () => 'same', fingerprint: false },
          ({ body }) => void ran.push(body.tenant),
        )
        const event = sqsEvent(...tenants.map((tenant) => ({ body: { tenant } })))
        for (let delivery = 0; delivery < 2; delivery++) await handler(event, lambdaContext())
        expect(ran.sort()).toEqual([...tenants].sort())
      }),
      { numRuns: 100 },
    )
  })
})
