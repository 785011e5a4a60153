import middy from '@middy/core'
import httpErrorHandler from '@middy/http-error-handler'
import type { Context } from 'aws-lambda'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { idempotent, idempotentHttp } from '../../lib/http/index.ts'
import { createIdempotency, type Store } from '../../lib/index.ts'
import { createTable, localClient } from '../stores/table.ts'
import { httpEvent, lambdaContext, restEvent } from './events.ts'
import { type Answered, headerOf, unmarked } from './harness.ts'

const client = localClient(inject('dynamoDbEndpoint'))
let store: Store

beforeAll(async () => {
  store = dynamoStore({ tableName: await createTable(client), client })
})

const setup = (namespace: string) => ({ idempotency: createIdempotency({ store, namespace }) })
const pause = () => new Promise((resolve) => setImmediate(resolve))

describe('on DynamoDB', () => {
  test('200 parallel requests with one key, 20 rounds: one effect each, every answer 409 or byte-identical', async () => {
    const effects = new Map<string, number>()
    const handler = middy()
      .use(idempotentHttp(setup('parallel')) as middy.MiddlewareObj)
      .use(httpErrorHandler({ logger: false }))
      .handler((async (_event: unknown, { operation }: { operation: { key: string } }) => {
        effects.set(operation.key, (effects.get(operation.key) ?? 0) + 1)
        await pause()
        return { statusCode: 201, headers: { location: `/orders/${operation.key}` }, body: crypto.randomUUID() }
      }) as never) as unknown as (event: unknown, context: Context) => Promise<Answered>

    for (let round = 0; round < 20; round++) {
      const key = `round-${round}`
      const ask = () => handler(httpEvent({ key }), lambdaContext())
      const answers = await Promise.all(Array.from({ length: 200 }, ask))
      const finished = [...answers.filter(({ statusCode }) => statusCode !== 409), await ask()]
      for (const answer of finished) expect(unmarked(answer)).toEqual(unmarked(finished[0]!))
      expect(finished[0]?.statusCode).toBe(201)
      for (const answer of answers) {
        if (answer.statusCode === 409) expect(Number(headerOf(answer, 'retry-after'))).toBeGreaterThanOrEqual(1)
      }
      expect(effects.get(key)).toBe(1)
    }
  }, 240_000)

  test('a 5.5 MB response is replayed byte for byte', async () => {
    const body = JSON.stringify(Array.from({ length: 150_000 }, () => crypto.randomUUID())).slice(0, 5_500_000)
    const handler = idempotent(setup('large'), async (_event: unknown) => ({ statusCode: 200, headers: {}, body }))
    const first = await handler(restEvent(), lambdaContext())
    const replay = await handler(restEvent(), lambdaContext())
    expect(replay.body === first.body).toBe(true)
    expect(headerOf(replay as Answered, 'Idempotent-Replayed')).toBe('true')
  })

  test('another request under the key is a 422, and a failure is replayed', async () => {
    let runs = 0
    const handler = idempotent(setup('failing'), async (_event: unknown): Promise<Answered> => {
      runs += 1
      throw new Error('x')
    })
    await expect(handler(restEvent(), lambdaContext())).rejects.toThrow('x')
    expect((await handler(restEvent({ body: '{}' }), lambdaContext())).statusCode).toBe(422)
    expect((await handler(restEvent(), lambdaContext())).statusCode).toBe(500)
    expect(runs).toBe(1)
  })
})
