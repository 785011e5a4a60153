import { afterAll, describe, expect, inject, test, vi } from 'vitest'
import { NAMESPACES, serviceIdempotency } from '../../functions/shared/idempotency.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { operationId } from '../../lib/record/identity.ts'
import { createTable, localClient } from '../stores/table.ts'
import { onlyResource, resourcesOf, synthesize } from './templates.ts'

const { payments } = synthesize()
const endpoint = inject('dynamoDbEndpoint')
afterAll(() => vi.unstubAllEnvs())

describe('what the template computes of the queues is what the records get', async () => {
  const client = localClient(endpoint)
  const tableName = await createTable(client)
  const retentions = resourcesOf(payments, 'AWS::SQS::Queue')
    .filter(([, { Properties }]) => Properties.RedrivePolicy)
    .map(([, { Properties }]) => {
      const [deadLettersId] = Properties.RedrivePolicy.deadLetterTargetArn['Fn::GetAtt']
      const [, deadLetters] = onlyResource(payments, 'AWS::SQS::Queue', deadLettersId)
      const again = (Properties.FifoQueue ? 2 : 1) * Properties.MessageRetentionPeriod
      return again + deadLetters.Properties.MessageRetentionPeriod
    })
  const [, { Properties: worker }] = onlyResource(payments, 'AWS::Lambda::Function', 'PaymentsWorker')

  test('the variable outlives every queue with its dead letters, the outbox before them, and an hour', () => {
    const STREAM_AND_RECONCILER = 86_400 + 60
    expect(worker.Environment.Variables.RETENTION_SECONDS).toBe(
      String(Math.max(...retentions) + STREAM_AND_RECONCILER + 3_600),
    )
  })

  test.each(NAMESPACES)('an operation of %s that ends expires so many seconds later', async (namespace) => {
    const variables: Record<string, unknown> = { ...worker.Environment.Variables, IDEMPOTENCY_TABLE: tableName }
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, String(value))
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint)
    const before = Math.floor(Date.now() / 1_000)
    await serviceIdempotency(namespace).run({ key: 'any', fingerprint: false }, () => 'done')
    const after = Math.ceil(Date.now() / 1_000)
    const record = await dynamoStore({ tableName, client }).get(operationId(namespace, [], 'any'))
    const retention = Number(variables.RETENTION_SECONDS)
    expect(record?.expiresAt).toBeGreaterThanOrEqual(before + retention)
    expect(record?.expiresAt).toBeLessThanOrEqual(after + retention)
  })
})
