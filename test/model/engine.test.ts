import { DeleteItemCommand } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'
import { describe, inject, test } from 'vitest'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { lookingFirst } from '../../lib/dynamodb/looking-first.ts'
import { createIdempotency, type Store } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { operationId } from '../../lib/record/identity.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { createTable, localClient } from '../stores/table.ts'
import { commands, type Real } from './commands.ts'
import { createMirror, LEASE_MS, RETENTION_MS, UNFINISHED_MS } from './mirror.ts'

/** Whole seconds, so that the model needs no rounding. */
const START_MS = 1_700_000_000_000

function setUp(
  store: Store,
  remove: (id: string) => void | Promise<void>,
): { model: ReturnType<typeof createMirror>; real: Real } {
  const clock = fakeClock(START_MS)
  const key = crypto.randomUUID()
  const id = operationId('model', [], key)
  const idempotency = createIdempotency({
    store,
    clock,
    namespace: 'model',
    leaseSeconds: LEASE_MS / 1000,
    retentionSeconds: RETENTION_MS / 1000,
    unfinishedRetentionSeconds: UNFINISHED_MS / 1000,
    clockSkewSeconds: 0,
    reconcilerShards: 1,
    reconcilerRecovers: true,
    random: () => 0,
  })
  return {
    model: createMirror(START_MS),
    real: { idempotency, clock, store, key, id, holds: [], remove: async () => remove(id) },
  }
}

describe('any sequence of claims, steps, ends, expiries, takeovers, signals and settlements is answered as the model answers', () => {
  test('over the memory store', async () => {
    await fc.assert(
      fc.asyncProperty(commands(40), async (sequence) => {
        const memory = memoryStore()
        await fc.asyncModelRun(() => setUp({ ...memory, put: lookingFirst(memory) }, memory.remove), sequence)
      }),
      { numRuns: Number(process.env.MODEL_RUNS ?? 1_500) },
    )
  })

  test('over the DynamoDB store, on the real engine', async () => {
    const client = localClient(inject('dynamoDbEndpoint'))
    const tableName = await createTable(client)
    const store = dynamoStore({ tableName, client })
    const remove = async (id: string) => {
      await client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk: { S: id }, sk: { S: 'op' } } }))
    }
    await fc.assert(
      fc.asyncProperty(commands(25), (sequence) => fc.asyncModelRun(() => setUp(store, remove), sequence)),
      { numRuns: Number(process.env.MODEL_RUNS ?? 1_500) / 30 },
    )
  })
})
