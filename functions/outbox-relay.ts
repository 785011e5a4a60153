import { dynamoStore } from '../lib/dynamodb/index.ts'
import { outboxRelay } from '../lib/outbox/index.ts'
import { environmentVariable } from './shared/environment.ts'
import { logLine } from './shared/log.ts'

export const handler = outboxRelay({
  store: dynamoStore({ tableName: environmentVariable('IDEMPOTENCY_TABLE') }),
  observer: ({ type, ...details }) => logLine(`outbox-${type}`, details),
})
