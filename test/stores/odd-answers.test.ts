import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { shortCuts } from '../../lib/dynamodb/short-cuts.ts'
import { emptyAnswerIn } from '../../lib/dynamodb/wire.ts'
import { absentAt, aRecord, NOW_MS } from '../../lib/store-contract/fixtures.ts'
import { answeringClient } from './answering-client.ts'

const tableName = 'operations'
const options = { maxAttempts: 1 }

/** How a write ends: without a word, or with an error's name. */
async function endOf(client: DynamoDBClient, isShort: boolean): Promise<string> {
  const command = new PutItemCommand({ TableName: tableName, Item: { pk: { S: 'op' } } })
  return (isShort ? shortCuts(client)(command) : client).send(command).then(
    () => 'applied',
    ({ name }: Error) => name,
  )
}

describe('an answer to a write', () => {
  test.each(['OK', '\r\n', '  ', '{ ', ' {', '{]', '[}', '\0\0', '<html>'])(
    'that says %j says of no write that it was applied',
    async (body) => {
      const { client, sent } = answeringClient([{ statusCode: 200, body }], options)
      const claim = dynamoStore({ tableName, client }).put(aRecord(), absentAt(NOW_MS))
      await expect(claim).rejects.toMatchObject({ code: 'STORE', retryable: true })
      expect(sent).toHaveLength(1)
    },
  )

  test.each(['OK', '\r\n', '', '{}', ' {}', '{"a":1}', '[]', '""', '12', 'null', 'nu', '{}{}'])(
    'that says %j ends it as with the SDK',
    async (body) => {
      const answer = { statusCode: 200, body }
      const theirs = await endOf(answeringClient([answer], options).client, false)
      expect(await endOf(answeringClient([answer], options).client, true)).toBe(theirs)
    },
  )

  test('is read without the SDK where it is an object without anything, and nowhere else', () => {
    expect(emptyAnswerIn('{}')).toEqual({})
    for (const text of ['', 'OK', '\r\n', '[]', '""', '12', ' {}', '{}\n', '{"a":1}']) {
      expect(emptyAnswerIn(text)).toBeUndefined()
    }
  })
})

describe("an answer of a client's own request handler", () => {
  /** A client whose handler answers exactly this. */
  const handledBy = (statusCode: number, body: unknown) => {
    const { client } = answeringClient([], options)
    client.config.requestHandler.handle = async () => ({ response: { statusCode, headers: {}, body } as never })
    return client
  }

  test.each([
    ['no body', 200, undefined],
    ['a body that is null', 200, null],
    ['an empty text', 200, ''],
    ['no bytes', 200, new Uint8Array()],
    ['an error without a body', 400, undefined],
    ['an error whose body is null', 400, null],
    ['an error of an empty text', 400, ''],
    ['a failure without a body', 503, undefined],
  ])('with %s ends the write as with the SDK', async (_name, statusCode, body) => {
    const theirs = await endOf(handledBy(statusCode, body), false)
    expect(theirs).not.toBe('TypeError')
    expect(await endOf(handledBy(statusCode, body), true)).toBe(theirs)
  })
})
