import { createHash } from 'node:crypto'
import { type DynamoDBClient, PutItemCommand, type UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { shortCuts } from '../../lib/dynamodb/short-cuts.ts'
import { absentAt, aRecord, completion, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { APPLIED, answeringClient, type SentRequest } from './answering-client.ts'

const tableName = 'operations'
const applied = { applied: true } as const
const seen = { kind: 'seen', token: 'token-a', rev: 1 } as const

type Stack = DynamoDBClient['middlewareStack']
interface HttpRequest {
  body: string | Uint8Array
  readonly headers: Record<string, string>
}
interface HttpResponse {
  statusCode: number
  body: unknown
}

interface Args {
  readonly request: HttpRequest
}
type Next = (args: never) => Promise<never>

/** Another body than the one that was written. */
function replaceBody(next: Next) {
  return ({ request, ...args }: Args): Promise<never> => {
    request.body = Buffer.from(request.body).toString().replace(tableName, 'another')
    return next({ ...args, request } as never)
  }
}

/** Sets a header where the request has just been written. */
function addHeader(stack: Stack): void {
  stack.add(
    (next) => (args) => {
      const { headers } = args.request as HttpRequest
      headers['x-own'] = 'here'
      return next(args)
    },
    { step: 'serialize', name: 'own' },
  )
}

/** Turns what was received into a failure, before it is read. */
function failAnswers(stack: Stack): void {
  stack.add(
    (next) => async (args) => {
      const answer = await next(args)
      const response = answer.response as HttpResponse
      response.statusCode = 503
      response.body = Buffer.from('{"__type":"a#InternalServerError","message":"no"}')
      return answer
    },
    { step: 'deserialize', name: 'own' },
  )
}

/** Whether a command of this client would take the short cuts. */
function isShort(client: DynamoDBClient, command: PutItemCommand | UpdateItemCommand): boolean {
  return shortCuts(client)(command) !== client
}
const aPut = () => new PutItemCommand({ TableName: tableName, Item: {} })
const put = (client: DynamoDBClient) => dynamoStore({ tableName, client }).put(aRecord(), absentAt(NOW_MS))
const own = ({ headers }: SentRequest) => headers['x-own']

describe.each([false, true])("a client's own step, with cacheMiddleware: %j", (cacheMiddleware) => {
  const options = { cacheMiddleware, maxAttempts: 1 }

  test('that comes after the serializer finds the request it has written', async () => {
    const { client, sent } = answeringClient([APPLIED], options)
    addHeader(client.middlewareStack)
    expect(await put(client)).toEqual(applied)
    expect(sent.map(own)).toEqual(['here'])
    expect(isShort(client, aPut())).toBe(false)
  })

  test('that comes before the deserializer is what it reads', async () => {
    const { client } = answeringClient([APPLIED], options)
    failAnswers(client.middlewareStack)
    await expect(put(client)).rejects.toMatchObject({ code: 'STORE', retryable: true })
    expect(isShort(client, aPut())).toBe(false)
  })

  test('that is added after the first write has its place in what the SDK resolves from then on', async () => {
    const { client, sent } = answeringClient([APPLIED], options)
    const store = dynamoStore({ tableName, client })
    expect(await store.put(aRecord(), absentAt(NOW_MS))).toEqual(applied)
    addHeader(client.middlewareStack)
    expect(await store.update('op', completion, seen)).toEqual(applied)
    expect(await store.put(aRecord(), absentAt(NOW_MS))).toEqual(applied)
    expect(sent.map(own)).toEqual([undefined, 'here', 'here'])
  })

  test('that is added after the first write turns answers into failures from then on', async () => {
    const { client } = answeringClient([APPLIED], options)
    const store = dynamoStore({ tableName, client })
    expect(await store.put(aRecord(), absentAt(NOW_MS))).toEqual(applied)
    failAnswers(client.middlewareStack)
    await expect(store.update('op', completion, seen)).rejects.toMatchObject({ code: 'STORE', retryable: true })
  })

  test('beside the two keeps its place', async () => {
    const { client, sent } = answeringClient([APPLIED], options)
    client.middlewareStack.addRelativeTo(
      ((next: Next) => (args: Args) => {
        args.request.headers['x-own'] = 'relative'
        return next(args as never)
      }) as never,
      { relation: 'after', toMiddleware: 'serializerMiddleware', name: 'own' },
    )
    expect(await put(client)).toEqual(applied)
    expect(sent.map(own)).toEqual(['relative'])
    expect(isShort(client, aPut())).toBe(false)
  })

  test.each<[string, (stack: Stack) => void]>([
    ['builds the request', (stack) => stack.add(replaceBody as never, { step: 'build', priority: 'high' })],
    [
      'comes before the signer',
      (stack) =>
        stack.addRelativeTo(replaceBody as never, {
          relation: 'before',
          toMiddleware: 'httpSigningMiddleware',
          name: 'own',
        }),
    ],
  ])('that %s may replace the body: what is sent is what is signed', async (_name, add) => {
    const { client, sent } = answeringClient([APPLIED], options)
    add(client.middlewareStack)
    expect(await put(client)).toEqual(applied)
    expect(isShort(client, aPut())).toBe(false)
    expect(sent.map(({ text }) => JSON.parse(text).TableName)).toEqual(['another'])
    for (const { text, headers } of sent) {
      expect(headers['x-amz-content-sha256']).toBe(createHash('sha256').update(text).digest('hex'))
    }
  })
})
