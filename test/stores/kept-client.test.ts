import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test, vi } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { shortCuts } from '../../lib/dynamodb/short-cuts.ts'
import { absentAt, aRecord, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { APPLIED, answeringClient } from './answering-client.ts'

const tableName = 'operations'
const applied = { applied: true } as const
const storeOf = (client: DynamoDBClient) => dynamoStore({ tableName, client })
const put = (store: ReturnType<typeof storeOf>) => store.put(aRecord(), absentAt(NOW_MS))

/** Whether this client's writes take the short cuts now. */
function isShort(client: DynamoDBClient): boolean {
  return shortCuts(client)(new PutItemCommand({ TableName: tableName, Item: {} })) !== client
}

describe('what comes to a client after its first write counts from the next one on', () => {
  test('a step beside one that only commands have', async () => {
    const { client, sent } = answeringClient()
    const store = storeOf(client)
    await put(store)
    client.middlewareStack.addRelativeTo(
      ((next: (args: object) => unknown) => (args: { readonly input: object }) =>
        next({ ...args, input: { ...args.input, TableName: 'prefixed' } })) as never,
      { name: 'prefix', relation: 'after', toMiddleware: 'endpointV2Middleware' },
    )
    await put(store)
    expect(sent.map(({ text }) => JSON.parse(text).TableName)).toEqual([tableName, 'prefixed'])
  })

  test("a step in the place and under the name of one of the SDK's", async () => {
    const { client } = answeringClient()
    const store = storeOf(client)
    await put(store)
    const seen = vi.fn()
    client.middlewareStack.add(
      (next) => (args) => {
        seen()
        return next(args)
      },
      { name: 'loggerMiddleware', step: 'initialize', override: true },
    )
    expect(await put(store)).toEqual(applied)
    expect(seen).toHaveBeenCalledTimes(1)
  })

  test('other credentials', async () => {
    const { client, sent } = answeringClient([APPLIED], { credentials: { accessKeyId: 'FIRST', secretAccessKey: 'x' } })
    const store = storeOf(client)
    await put(store)
    const other = { accessKeyId: 'OTHER', secretAccessKey: 'y' }
    Object.assign(client.config, { credentials: async () => other })
    await put(store)
    expect(sent.map(({ headers }) => headers.authorization?.match(/FIRST|OTHER/)?.[0])).toEqual(['FIRST', 'OTHER'])
  })

  test('another request handler', async () => {
    const first = answeringClient()
    const second = answeringClient()
    const store = storeOf(first.client)
    await put(store)
    first.client.config.requestHandler = second.client.config.requestHandler
    await put(store)
    expect([first.sent.length, second.sent.length]).toEqual([1, 1])
  })
})

describe('a client whose commands go a way of its own', () => {
  test('has its private fields', async () => {
    let calls = 0
    class Counting extends DynamoDBClient {
      #calls = 0
      count() {
        calls = ++this.#calls
      }
    }
    Counting.prototype.send = function send(this: Counting, ...args: unknown[]) {
      this.count()
      return DynamoDBClient.prototype.send.apply(this, args as never)
    } as DynamoDBClient['send']
    const { config } = answeringClient().client
    const client = new Counting({ endpoint: 'http://127.0.0.1:9', requestHandler: config.requestHandler })
    const store = storeOf(client)
    expect([await put(store), await put(store), calls]).toEqual([applied, applied, 2])
    expect(isShort(client)).toBe(false)
  })

  test('and has only that, and a configuration, is asked for nothing else', async () => {
    const { client } = answeringClient()
    const send = vi.fn(async () => ({}))
    expect(await put(storeOf({ config: client.config, send } as unknown as DynamoDBClient))).toEqual(applied)
    expect(send).toHaveBeenCalledTimes(1)
  })
})

test('the user agent stays what it is, also with a retry strategy that adds to it', async () => {
  const retryStrategy = { mode: 'mine', retry: (next: (args: object) => unknown, args: object) => next(args) }
  const { client, sent } = answeringClient([APPLIED], { retryStrategy: retryStrategy as never })
  const store = storeOf(client)
  for (let n = 0; n < 5; n++) await put(store)
  expect(isShort(client)).toBe(true)
  expect(new Set(sent.map(({ headers }) => headers['user-agent'])).size).toBe(1)
})
