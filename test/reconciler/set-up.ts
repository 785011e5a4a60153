import type { Context } from 'aws-lambda'
import { idempotent } from '../../lib/http/index.ts'
import type { IdempotencyOptions, Operation } from '../../lib/index.ts'
import type { OutgoingMessage, SendResult } from '../../lib/outbox/index.ts'
import { type ReconcilerOptions, type ReconcilerReport, reconciler } from '../../lib/reconciler/index.ts'
import { setUpCommits } from '../core/commit-harness.ts'
import type { Faults } from '../core/faulty-store.ts'
import { lambdaContext, restEvent } from '../http/events.ts'

export const FUNCTION = 'arn:aws:lambda:eu-central-1:111122223333:function:orders'
/** The scope of the handler's operations. */
export const SCOPE = ['POST', '/orders']
export const LEASE_MS = 10_000
/** After this a crashed operation is due: its lease is over, and the time in which a redelivery usually comes. */
export const DUE_MS = LEASE_MS + 60_000

type Work = (operation: Operation) => unknown

/** An HTTP handler whose operations are kept in the index, and a reconciler with a sender that only takes notes. */
export function setUp({
  core = {},
  faults = {},
  work = () => ({ statusCode: 200, body: 'handled' }),
  redrive = true,
}: {
  core?: Partial<IdempotencyOptions>
  faults?: Faults
  work?: Work
  redrive?: boolean
} = {}) {
  const harness = setUpCommits({ leaseSeconds: LEASE_MS / 1000, ...core }, { faults })
  const { idempotency, clock } = harness
  const options = { idempotency, anonymous: true, ...(redrive && { redrive: { functionName: FUNCTION } }) }
  const handler = idempotent(options, (_event, { operation }) => work(operation)) as (
    event: unknown,
    context: Context,
  ) => Promise<unknown>
  const sent: OutgoingMessage[] = []
  const results: (SendResult | (() => Promise<SendResult>))[] = []
  const sender = {
    async send(messages: readonly OutgoingMessage[]): Promise<readonly SendResult[]> {
      sent.push(...messages)
      return Promise.all(
        messages.map(async () => {
          const result = results.shift() ?? { kind: 'sent' as const }
          return typeof result === 'function' ? result() : result
        }),
      )
    },
  }

  return {
    ...harness,
    sent,
    /** What sending comes to, in order; afterwards everything is sent. */
    results,
    sender,
    /** A request under this key. */
    call: (key = 'key-1') => handler(restEvent({ key }), lambdaContext()),
    /** An operation that begins, and whose process then dies. */
    async crash(key = 'key-1', before: Work = () => undefined): Promise<void> {
      const crashed = idempotent(options, async (_event, { operation }) => {
        await before(operation)
        begun()
        return new Promise(() => undefined)
      }) as unknown as typeof handler
      let begun: () => void = () => undefined
      const running = new Promise<void>((resolve) => {
        begun = resolve
      })
      void crashed(restEvent({ key }), lambdaContext())
      await running
    },
    statuses: () => harness.memory.records().map(({ status }) => status),
    reconcile: (
      given: Partial<ReconcilerOptions> = {},
      context: Context = lambdaContext(),
    ): Promise<ReconcilerReport> => reconciler({ idempotency, ...given })(undefined, context),
    clock,
  }
}

/** A report in which everything else is nothing. */
export function reportOf(counts: Partial<ReconcilerReport>): ReconcilerReport {
  return {
    examined: 0,
    recovered: 0,
    continued: 0,
    redriven: 0,
    sent: 0,
    stuck: 0,
    skipped: 0,
    beyond: 0,
    failed: 0,
    hasMore: false,
    ...counts,
  }
}
