// A user's plain JavaScript.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createIdempotency } from 'lambda-once'
import { dynamoStore } from 'lambda-once/dynamodb'
import { memoryStore } from 'lambda-once/memory'

const idempotency = createIdempotency({ store: memoryStore(), namespace: 'mails' })
let sent = 0
const send = idempotency.wrap(async (mail) => `${mail.to} ${++sent}`, { key: (mail) => mail.id })
const mail = { id: 'mail-1', to: 'a@example.com' }
const answers = [await send(mail), await send(mail)]

/** Nothing listens there, so that the store is used as it is deployed, and fails closed. */
const nowhere = createIdempotency({
  store: dynamoStore({ tableName: 'operations', client: clientOf('http://127.0.0.1:9') }),
  namespace: 'mails',
})
const refused = await nowhere.run({ key: '1', input: mail }, () => 'ran').catch((error) => error.code)

console.log(JSON.stringify({ sent, answers, refused }))

function clientOf(endpoint) {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return new DynamoDBClient({ endpoint, region: 'eu-central-1', credentials, maxAttempts: 1 })
}
