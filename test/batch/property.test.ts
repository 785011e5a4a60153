import type { SQSRecord } from 'aws-lambda'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchHandler } from '../../lib/batch/index.ts'
import { createIdempotency, NoEffectError, PermanentError, RetryLater } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'
import { type Fault, faultyStore } from '../core/faulty-store.ts'
import { identifiers } from './set-up.ts'
import { event, invocation, message, redelivered } from './sqs-event.ts'

interface Body {
  key: string
  version: number
}

const key = fc.constantFrom('k1', 'k2', 'k3', 'k4')
const faults = fc.array(fc.constantFrom<Fault>('none', 'none', 'none', 'refused', 'not-applied', 'answer-lost'), {
  maxLength: 12,
})

const scenario = fc.record({
  isFifo: fc.boolean(),
  fifo: fc.constantFrom('group' as const, 'batch' as const),
  concurrency: fc.integer({ min: 1, max: 4 }),
  messages: fc.array(
    fc.record({
      key,
      version: fc.constantFrom(1, 1, 1, 2),
      group: fc.constantFrom('A', 'B', 'C'),
      isPoison: fc.constantFrom(false, false, false, false, false, true),
      /** SQS sometimes delivers a message twice in one batch. */
      isTwice: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  /** What the handler does at each call for a key; after the last one it returns. */
  behaviours: fc.dictionary(
    key,
    fc.array(fc.constantFrom('return', 'throw', 'later', 'no-effect', 'permanent', 'release', 'unstorable'), {
      maxLength: 4,
    }),
  ),
  /** How often the handler gives way to others before it ends. */
  turns: fc.integer({ min: 0, max: 6 }),
  faults: fc.record({ put: faults, update: faults }),
  timeLeftMs: fc.constantFrom(30_000, 30_000, 1_250),
  deliveries: fc.integer({ min: 1, max: 4 }),
})

test('no unknown id, no message deleted whose operation is not completed, order kept per group', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ isFifo, fifo, concurrency, messages, behaviours, ...given }) => {
      const memory = memoryStore()
      const completions = new Map<string, number>()
      const clock = fakeClock()
      const calls = new Map<string, number>()
      /** Requests whose handler has returned a result, and the operation's id. */
      const returned = new Map<string, string>()
      let log: { receipt: string; what: 'starts' | 'ends' }[] = []
      let failing = new Set<string>()
      let leftMs = 0

      const idempotency = createIdempotency({
        store: faultyStore(memory, { put: [...given.faults.put], update: [...given.faults.update] }),
        clock,
        namespace: 'p',
        observer: ({ type, operationId }) => {
          if (type === 'completed') completions.set(operationId, (completions.get(operationId) ?? 0) + 1)
        },
      })
      const handler = batchHandler<Body>(
        {
          idempotency,
          key: ({ body }) => body.key,
          concurrency,
          fifo,
          onFailure: ({ record }) => failing.add(record.receiptHandle),
        },
        async ({ receiptHandle, rawBody, body }, operation) => {
          log.push({ receipt: receiptHandle, what: 'starts' })
          for (let turn = 0; turn < given.turns; turn++) await undefined
          leftMs -= 100
          log.push({ receipt: receiptHandle, what: 'ends' })
          const call = calls.get(body.key) ?? 0
          calls.set(body.key, call + 1)
          const behaviour = behaviours[body.key]?.[call] ?? 'return'
          if (behaviour === 'throw') throw new Error('boom')
          if (behaviour === 'later') throw new RetryLater()
          if (behaviour === 'no-effect') throw new NoEffectError()
          if (behaviour === 'permanent') throw new PermanentError('Never.')
          if (behaviour === 'release') operation.release()
          returned.set(rawBody, operation.id)
          return behaviour === 'unstorable' ? () => undefined : 'done'
        },
      )

      const sent = messages.flatMap(({ group, isPoison, isTwice, key, version }, index) => {
        const body = isPoison ? '{' : { key, version }
        const one = () => message(`m${index}`, { body, ...(isFifo && { group }) })
        return isTwice ? [one(), one()] : [one()]
      })
      let batch = event(...sent)
      for (let delivery = 0; delivery < given.deliveries && batch.Records.length > 0; delivery++) {
        log = []
        failing = new Set()
        leftMs = given.timeLeftMs
        const failed = identifiers(
          await handler(
            batch,
            invocation(() => leftMs),
          ),
        )
        const isFailed = ({ receiptHandle }: SQSRecord) => failing.has(receiptHandle)

        expect(failed).toEqual([...new Set(batch.Records.filter(isFailed).map(({ messageId }) => messageId))])

        for (const { body } of batch.Records.filter((record) => !isFailed(record))) {
          const record = memory.records().find(({ id }) => id === returned.get(body))
          const how = record?.outcome?.kind === 'failure' ? record.outcome.failure.code : record?.status
          expect(['COMPLETED', 'OUTCOME_UNSTORABLE']).toContain(how)
        }
        expect(Math.max(0, ...completions.values())).toBeLessThanOrEqual(1)

        for (const lane of isFifo ? lanesOf(batch.Records, fifo) : []) {
          const receipts = lane.map(({ receiptHandle }) => receiptHandle)
          const ran = log.filter(({ receipt }) => receipts.includes(receipt))
          const started = receipts.filter((receipt) => ran.some((entry) => entry.receipt === receipt))
          // One after another, in order.
          expect(ran).toEqual(
            started.flatMap((receipt) => [
              { receipt, what: 'starts' },
              { receipt, what: 'ends' },
            ]),
          )
          const first = lane.findIndex(isFailed)
          const rest = first < 0 ? [] : lane.slice(first + 1)
          expect(rest.every(isFailed)).toBe(true)
          expect(rest.filter(({ receiptHandle }) => started.includes(receiptHandle))).toEqual([])
        }

        batch = redelivered({ Records: batch.Records.filter(({ messageId }) => failed.includes(messageId)) })
        clock.advance(60_000)
      }
    }),
    { numRuns: 500 },
  )
})

function lanesOf(records: readonly SQSRecord[], fifo: 'group' | 'batch'): SQSRecord[][] {
  const lanes = Map.groupBy(records, ({ attributes }) => (fifo === 'batch' ? 'all' : attributes.MessageGroupId))
  return [...lanes.values()]
}
