import { describe, expect, inject, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { dynamoStore } from '../../lib/dynamodb/index.ts'
import { createIdempotency } from '../../lib/index.ts'
import { createTable, localClient } from '../stores/table.ts'
import { gate, identifiers } from './set-up.ts'
import { event, invocation, message, redelivered } from './sqs-event.ts'

const client = localClient(inject('dynamoDbEndpoint'))
const tableName = await createTable(client)

/** One sandbox's consumer. All of them share the table. */
function consumer(namespace: string, work: (id: string) => unknown) {
  const idempotency = createIdempotency({ store: dynamoStore({ tableName, client }), namespace })
  const handler = batchHandler({ idempotency, onFailure: () => undefined }, ({ messageId }) => work(messageId))
  return async (batch: Parameters<typeof handler>[0]) => identifiers(await handler(batch, invocation()))
}

describe('on the real engine', () => {
  test('two invocations of the same records, one inside the other, have one run of each between them', async () => {
    const ran: string[] = []
    const all = gate()
    const batch = event(...Array.from({ length: 10 }, (_, index) => message(`m${index}`)))
    const ids = batch.Records.map(({ messageId }) => messageId)
    const opened = gate()
    const first = consumer('inside', async (id) => {
      ran.push(id)
      if (ran.length === ids.length) all.open()
      await opened.opened
    })
    const second = consumer('inside', (id) => ran.push(id))

    const answer = first(batch)
    await all.opened
    expect(await second(redelivered(batch))).toEqual(ids)
    opened.open()
    expect(await answer).toEqual([])
    expect(await second(redelivered(batch))).toEqual([])
    expect(ran.toSorted()).toEqual(ids)
  })

  test('many invocations that race for the same records have one run of each between them', async () => {
    const ran: string[] = []
    const batch = event(...Array.from({ length: 10 }, (_, index) => message(`m${index}`)))
    const ids = batch.Records.map(({ messageId }) => messageId)
    const consumers = Array.from({ length: 8 }, () => consumer('racing', async (id) => ran.push(id)))
    const answers = await Promise.all(consumers.map((deliver) => deliver(redelivered(batch))))
    expect(ran.toSorted()).toEqual(ids)
    // Whoever ran a record, or came after its end, deletes the message; the others have it delivered again.
    for (const id of ids) expect(answers.some((failed) => !failed.includes(id))).toBe(true)
    for (const deliver of consumers) expect(await deliver(redelivered(batch))).toEqual([])
    expect(ran.toSorted()).toEqual(ids)
  })

  test('what failed runs again at the redelivery, what was done does not; order holds in a FIFO group', async () => {
    const ran: string[] = []
    let isDown = true
    const deliver = consumer('fifo', (id) => {
      ran.push(id)
      if (id === 'A2' && isDown) throw new Error('boom')
    })
    const batch = event(...['A1', 'A2', 'A3'].map((id) => message(id, { group: 'A' })))
    expect(await deliver(batch)).toEqual(['A2', 'A3'])
    isDown = false
    expect(await deliver(redelivered(batch))).toEqual([])
    expect(ran).toEqual(['A1', 'A2', 'A2', 'A3'])
  })
})
