import type { DynamoDBRecord } from 'aws-lambda'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SendResult } from '../../lib/outbox/index.ts'
import { invocation } from '../batch/sqs-event.ts'
import type { Fault } from '../core/faulty-store.ts'
import { type Item, inserted, itemOf, setUp } from './set-up.ts'

const scenario = fc.record({
  /** Commits in the order of their writing, each with so many messages; those of one may come in any order. */
  commits: fc.array(
    fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), count: fc.integer({ min: 1, max: 4 }), shuffle: fc.gen() }),
    { minLength: 1, maxLength: 6 },
  ),
  /** Records of other things, by where they come in. */
  noise: fc.array(fc.record({ at: fc.nat(20), name: fc.constantFrom('MODIFY', 'REMOVE', 'record') }), { maxLength: 4 }),
  unreadable: fc.array(fc.nat(15), { maxLength: 2 }),
  /** What the target says to each message in turn; then it takes every one. */
  answers: fc.array(fc.constantFrom('sent', 'sent', 'sent', 'failed', 'refused'), { maxLength: 30 }),
  marks: fc.array(fc.constantFrom<Fault>('none', 'none', 'not-applied', 'answer-lost'), { maxLength: 20 }),
  /** Messages that may be sent before the invocation's time is over. */
  patience: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 5 }),
})

test('every message is sent or stuck in the end, with one id, and first sent in the order of its operation', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ commits, noise, unreadable, answers, marks, patience }) => {
      const script = [...answers]
      const first: string[] = []
      let left = Number.POSITIVE_INFINITY
      const { memory, stateOf, deliver } = setUp({
        faults: { updateBeside: [...marks] },
        answer: ({ messageId }): SendResult => {
          left -= 1
          const answer = script.shift() ?? 'sent'
          if (answer === 'failed') return { kind: 'failed', error: new Error('down') }
          // One that was sent and not marked may be refused the next time.
          if (!first.includes(messageId)) first.push(messageId)
          return answer === 'sent' ? { kind: 'sent' } : { kind: 'refused', reason: 'NotFound' }
        },
      })

      const items: Item[] = []
      let records: DynamoDBRecord[] = []
      for (const [index, { id, count, shuffle }] of commits.entries()) {
        const token = `t${9 - index}`
        const written = await Promise.all(
          Array.from({ length: count }, (_, position) => itemOf({ id, token, position })),
        )
        const broken = written.map((item, at) =>
          unreadable.includes(items.length + at) ? { ...item, attributes: { ...item.attributes, to: {} } } : item,
        )
        items.push(...broken)
        const order = shuffle(() => fc.shuffledSubarray(broken, { minLength: broken.length, maxLength: broken.length }))
        records.push(...order.map((item) => inserted(item)))
      }
      for (const item of items) await memory.putBeside(item.id, item)
      for (const { at, name } of noise) {
        const other = inserted(await itemOf({ id: 'other' }))
        const record =
          name === 'record' ? inserted({ ...(await itemOf({ id: 'other' })), sk: 'op' }) : { ...other, eventName: name }
        records.splice(at, 0, record as DynamoDBRecord)
      }

      // As Lambda does: everything from the lowest reported record on, until nothing is reported.
      const limits = [...patience]
      for (let delivery = 0; records.length > 0; delivery++) {
        expect(delivery).toBeLessThan(80)
        left = limits.shift() ?? Number.POSITIVE_INFINITY
        const failed = await deliver(
          { Records: records },
          invocation(() => (left > 0 ? 30_000 : 1)),
        )
        const lowest = records.findIndex(({ dynamodb }) => failed.includes(dynamodb?.SequenceNumber ?? ''))
        // What is not brought again must be settled by now.
        const gone = records.slice(0, lowest < 0 ? records.length : lowest)
        for (const { dynamodb, eventName } of gone) {
          const sk = dynamodb?.Keys?.sk?.S ?? ''
          const id = dynamodb?.Keys?.pk?.S ?? ''
          if (eventName !== 'INSERT' || id === 'other') continue
          expect(['dispatched', 'stuck']).toContain((await stateOf({ id, sk, attributes: {} }))?.state)
        }
        records = lowest < 0 ? [] : records.slice(lowest)
      }

      for (const item of items) expect(['dispatched', 'stuck']).toContain((await stateOf(item))?.state)
      const readable = items.filter(({ attributes }) => 'queueUrl' in Object(attributes.to))
      for (const id of ['a', 'b', 'c', 'd']) {
        const expected = readable.filter((item) => item.id === id).map(({ attributes }) => attributes.messageId)
        expect(first.filter((messageId) => messageId.startsWith(id))).toEqual(expected)
      }
    }),
    { numRuns: 400 },
  )
})
