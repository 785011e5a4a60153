import { dynamoStore } from '../lib/dynamodb/index.ts'
import { type OutboxEvent, outboxRelay } from '../lib/outbox/index.ts'
import { environmentVariable } from './shared/environment.ts'

export const handler = outboxRelay({
  store: dynamoStore({ tableName: environmentVariable('IDEMPOTENCY_TABLE') }),
  observer: logEvent,
})

/** One JSON line per message, for metric filters. Straight to stdout: Lambda's console puts a prefix before each line. */
function logEvent({ type, ...rest }: OutboxEvent): void {
  const details = 'error' in rest ? { ...rest, error: String(rest.error) } : rest
  process.stdout.write(`${JSON.stringify({ event: `outbox-${type}`, ...details })}\n`)
}
