// The function under chaos, as a user writes it: an effect at a provider that honours keys, one at a provider that
// does not, and a commit. It is bundled, and runs in processes of its own.
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { batchHandler } from '../../lib/batch/index.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency, type StepOptions } from '../../lib/index.ts'

const { TABLE = '', LEDGER = '', PROVIDER = '', LEASE_SECONDS = '' } = process.env

const idempotency = createIdempotency({
  store: dynamoStore({ tableName: TABLE }),
  namespace: 'chaos',
  // Shorter than a freeze, so that somebody else takes over and the frozen holder wakes up later.
  leaseSeconds: Number(LEASE_SECONDS),
})

async function call(path: string, body: object): Promise<string> {
  const response = await fetch(`${PROVIDER}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return response.text()
}

export const handler: (event: SQSEvent, context: never) => Promise<SQSBatchResponse> = batchHandler<{ id: string }>(
  { idempotency, key: ({ body }) => body.id, scope: 'chaos', concurrency: 4, onFailure: () => undefined },
  async ({ body: { id } }, operation) => {
    await call('/run', { id, fence: operation.fence })
    await operation.step('charge', ({ idempotencyKey }) => call('/charge', { id, key: idempotencyKey }))
    const probed: StepOptions<string> = {
      probe: async () => {
        const found = await call('/look', { id, fence: operation.fence })
        return found === 'sent' ? { kind: 'done', value: 'sent' } : { kind: found === 'open' ? 'unknown' : 'not-done' }
      },
    }
    await operation.step('mail', () => call('/mail', { id, fence: operation.fence }), {
      onUnknown: 'stop',
      ...(Number(id) % 2 === 0 && probed),
    })
    await operation.commit(
      { id },
      {
        writes: [
          {
            Update: {
              TableName: LEDGER,
              Key: { pk: id, sk: 'row' },
              UpdateExpression: 'ADD #n :one',
              ExpressionAttributeNames: { '#n': 'n' },
              ExpressionAttributeValues: { ':one': 1 },
            },
          },
        ],
        receipt: id,
      },
    )
  },
)
