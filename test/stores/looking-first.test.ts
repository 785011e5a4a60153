import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import type { OperationRecord, Store } from '../../lib/index.ts'
import { absentAt, aRecord, completion, likelyTakenAt, NOW_MS, NOW_SECONDS } from '../../lib/store-contract/fixtures.ts'
import { type LostAnswerProxy, startLostAnswerProxy } from './lost-answer-proxy.ts'
import { createTable, localClient } from './table.ts'
import { watchedClient } from './wire.ts'

const endpoint = inject('dynamoDbEndpoint')
const { client, sent } = watchedClient(endpoint)
let tableName: string
let store: Store
beforeAll(async () => {
  tableName = await createTable(client)
  store = dynamoStore({ tableName, client })
})
afterEach(() => {
  sent.length = 0
})
afterAll(() => client.destroy())

const applied = { applied: true } as const

/** A record that is there, and the claim of another one. */
async function given(fields: Partial<OperationRecord>): Promise<readonly [OperationRecord, OperationRecord]> {
  const record = aRecord(fields)
  await store.put(record, absentAt(NOW_MS))
  sent.length = 0
  return [record, { ...aRecord({ token: 'token-b', createdAtMs: NOW_MS }), id: record.id }]
}

describe('a claim that is likely to be refused', () => {
  test('is, by one read and no write', async () => {
    const [there, claim] = await given({ status: 'COMPLETED' })
    expect(await store.put(claim, likelyTakenAt(NOW_MS))).toEqual({ applied: false, existing: there })
    expect(sent).toEqual(['GetItem'])
  })

  test('knows its own record, whose answer was lost', async () => {
    const record = aRecord()
    await store.put(record, absentAt(NOW_MS))
    sent.length = 0
    expect(await store.put(record, likelyTakenAt(NOW_MS))).toEqual({ applied: false, existing: record })
    expect(sent).toEqual(['GetItem'])
  })

  test('is written where there is nothing', async () => {
    const record = aRecord()
    expect(await store.put(record, likelyTakenAt(NOW_MS))).toEqual(applied)
    expect(sent).toEqual(['GetItem', 'PutItem'])
    expect(await store.get(record.id)).toEqual(record)
  })

  test.each<[string, Partial<OperationRecord>]>([
    ['has expired', { status: 'COMPLETED', expiresAt: NOW_SECONDS - 1 }],
    ['was released', { status: 'RELEASED' }],
  ])('is written over a record that %s', async (_name, fields) => {
    const [, claim] = await given(fields)
    expect(await store.put(claim, likelyTakenAt(NOW_MS))).toEqual(applied)
    expect(sent).toEqual(['GetItem', 'PutItem'])
    expect(await store.get(claim.id)).toEqual(claim)
  })

  test('is refused by a record that was written between the look and the write', async () => {
    const [there, claim] = await given({ status: 'RELEASED' })
    const other = watchedClient(endpoint)
    other.client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'PutItemCommand') {
            await store.update(there.id, completion, { kind: 'seen', token: there.token, rev: there.rev })
          }
          return next(args)
        },
      { step: 'initialize' },
    )
    const answer = await dynamoStore({ tableName, client: other.client }).put(claim, likelyTakenAt(NOW_MS))
    other.client.destroy()
    expect(answer).toEqual({ applied: false, existing: await store.get(there.id) })
    expect(other.sent).toEqual(['GetItem', 'PutItem'])
  })

  test('over the record seen is written at once, and so is one without a reason to look', async () => {
    const [{ id, token, rev }, claim] = await given({})
    expect(await store.put(claim, { kind: 'seen', token, rev })).toEqual(applied)
    expect(await store.put({ ...claim, id: `${id}#2` }, absentAt(NOW_MS))).toEqual(applied)
    expect(sent).toEqual(['PutItem', 'PutItem'])
  })

  test('fails where the role may not look, and writes nothing', async () => {
    const through = localClient(endpoint)
    through.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName !== 'GetItemCommand') return next(args)
          throw Object.assign(new Error('no'), { name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } })
        },
      { step: 'initialize' },
    )
    const record = aRecord()
    const claim = dynamoStore({ tableName, client: through }).put(record, likelyTakenAt(NOW_MS))
    await expect(claim).rejects.toMatchObject({ code: 'STORE', retryable: false })
    await expect(claim).rejects.toThrow(/grant it dynamodb:GetItem on the table/)
    expect(await store.get(record.id)).toBeUndefined()
    through.destroy()
  })
})

describe('an answer that is lost', () => {
  async function losing(count: number, what: string, run: (store: Store, proxy: LostAnswerProxy) => Promise<void>) {
    const proxy = await startLostAnswerProxy(endpoint)
    const through: DynamoDBClient = localClient(proxy.endpoint)
    try {
      proxy.drop(count, `DynamoDB_20120810.${what}`)
      await run(dynamoStore({ tableName, client: through }), proxy)
      expect(proxy.dropped).toBe(count)
    } finally {
      through.destroy()
      await proxy.stop()
    }
  }

  test('of a look is asked for again by the SDK', async () => {
    const [there, claim] = await given({})
    await losing(1, 'GetItem', async (through) => {
      expect(await through.put(claim, likelyTakenAt(NOW_MS))).toEqual({ applied: false, existing: there })
    })
  })

  test('of a look until the SDK gives up leaves the claim in doubt, and nothing written', async () => {
    const record = aRecord()
    await losing(3, 'GetItem', async (through) => {
      await expect(through.put(record, likelyTakenAt(NOW_MS))).rejects.toMatchObject({ code: 'STORE', retryable: true })
    })
    expect(await store.get(record.id)).toBeUndefined()
  })

  test('of the write after a look meets the own record when the SDK repeats it', async () => {
    const record = aRecord()
    await losing(1, 'PutItem', async (through) => {
      expect(await through.put(record, likelyTakenAt(NOW_MS))).toEqual({ applied: false, existing: record })
    })
  })
})
