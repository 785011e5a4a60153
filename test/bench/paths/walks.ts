import { createHash } from 'node:crypto'
import type { SQSEvent } from 'aws-lambda'
import { batchHandler } from '../../../lib/batch/index.ts'
import {
  type CommitPlan,
  type Idempotency,
  NoEffectError,
  type Operation,
  OUTBOX_PREFIX,
  RetryLater,
  type Store,
} from '../../../lib/index.ts'
import { outboxRelay } from '../../../lib/outbox/index.ts'
import { reconciler } from '../../../lib/reconciler/index.ts'
import { invocation } from '../../batch/sqs-event.ts'
import { inserted, streamEvent } from '../../outbox/set-up.ts'
import { batchOf, invocationContext, redelivered } from '../sides/orders.ts'

/** How many shards the index has where there is a reconciler. */
export const SHARDS = 4

/** Where a path is walked. */
export interface Stage {
  readonly idempotency: Idempotency
  readonly store: Store
  /** A table of the user's own, with the key `id`. */
  readonly users: string
  /** Forgets what was sent until now: it only prepared the path. */
  begin(): void
  /** Counts no more: what comes only ends what was begun. */
  end(): void
}

/** Walks one path. */
export type Walk = (stage: Stage) => Promise<unknown>

type Work = (operation: Operation) => unknown

const QUEUE = { queueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/q' }
const RECORDS = 10

/** The paths that a function takes, a relay's among them. */
export const PATHS: Readonly<Record<string, Walk>> = {
  'first execution': first(() => 'done'),
  'first execution, outcome of 1 KB': first(() => textOf(1_000)),
  'first execution, outcome of 50 KB': first(() => textOf(50_000)),
  'first execution, outcome of 1 MB': first(() => textOf(1_000_000)),
  'first execution, one step': first(({ step }) => step('charge', () => ({ charge: 'ch_1' }))),
  'first execution, one step with a start mark': first(({ step }) =>
    step('mail', () => ({ mail: 'm_1' }), { onUnknown: 'stop' }),
  ),
  'first execution, commit without writes': committing(0),
  'first execution, commit of 1 small write': committing(1),
  'first execution, commit of 3 small writes': committing(3),
  'first execution, commit of 1 small write and a message': committing(1, { messages: [{ to: QUEUE, body: 1 }] }),
  'first execution, commit of 1 small write and a receipt': committing(1, { receipt: { charge: 'ch_1' } }),
  'first execution, nothing was done: released': refused(new NoEffectError('nothing was done')),
  'first execution, to be resumed': refused(new RetryLater('not now')),
  'resumed execution': async (stage) => {
    const key = await given(stage, () => Promise.reject(new RetryLater('not now')))
    return once(stage, () => 'done', key)
  },
  duplicate: duplicate('done'),
  'duplicate, outcome of 1 KB': duplicate(textOf(1_000)),
  'duplicate, outcome of 50 KB': duplicate(textOf(50_000)),
  'duplicate, outcome of 1 MB': duplicate(textOf(1_000_000)),
  'duplicate, redelivered': batch({ records: 1, groupCommit: true, again: redelivered }),
  'duplicate while the first one runs': (stage) => {
    const key = crypto.randomUUID()
    return once(
      stage,
      async () => {
        stage.begin()
        await once(stage, () => 'never', key).catch(ignore)
        stage.end()
      },
      key,
    )
  },
  'another request under a used key': async (stage) => {
    const key = await given(stage, () => 'done')
    await stage.idempotency.run({ key, scope: ['tenant'], input: 'another' }, () => 'never').catch(ignore)
  },
  'batch of 10, one by one': batch({ groupCommit: false }),
  'batch of 10 duplicates, one by one': batch({ groupCommit: false, again: unchanged }),
  'batch of 10': batch({ groupCommit: true }),
  'batch of 10 duplicates': batch({ groupCommit: true, again: unchanged }),
  'batch of 10 redelivered': batch({ groupCommit: true, again: redelivered }),
  'relay, each message': async (stage) => {
    let id = ''
    await once(stage, (operation) => {
      id = operation.id
      return operation.commit('done', { messages: [{ to: QUEUE, body: 1 }] })
    })
    const items = await stage.store.listBeside(id, OUTBOX_PREFIX)
    const sender = { send: async (messages: readonly unknown[]) => messages.map(() => ({ kind: 'sent' as const })) }
    const relay = outboxRelay({ store: stage.store, sender })
    stage.begin()
    await relay(streamEvent(...items.map((item) => inserted({ ...item, id }))), invocation())
  },
}

/** Those that there are only where a reconciler is deployed. */
export const PATHS_OF_A_RECONCILER: Readonly<Record<string, Walk>> = {
  [`run of a reconciler, nothing due in ${SHARDS} shards`]: async ({ idempotency, begin }) => {
    const run = reconciler({ idempotency, recover: () => 'done' })
    begin()
    await run()
  },
  'first execution that waits': first(({ wait }) => wait('an answer')),
  'signal to what waits': async (stage) => {
    const key = await given(stage, ({ wait }) => wait('an answer'))
    await stage.idempotency.signal({ key, scope: ['tenant'] }, { answer: 42 }, { id: 'answer-1' })
  },
}

function once({ idempotency }: Stage, work: Work, key: string = crypto.randomUUID()): Promise<unknown> {
  return idempotency.run({ key, scope: ['tenant'], input: { amount: 100 } }, work)
}

/** An operation that is there before the path begins. */
async function given(stage: Stage, work: Work): Promise<string> {
  const key = crypto.randomUUID()
  await once(stage, work, key).catch(ignore)
  stage.begin()
  return key
}

function first(work: Work): Walk {
  return (stage) => once(stage, work).catch(ignore)
}

function refused(error: Error): Walk {
  return first(() => Promise.reject(error))
}

function duplicate(value: unknown): Walk {
  return async (stage) => once(stage, () => value, await given(stage, () => value))
}

function committing(writes: number, plan: CommitPlan = {}): Walk {
  return (stage) => once(stage, ({ commit }) => commit('done', { writes: puts(stage.users, writes), ...plan }))
}

function puts(TableName: string, count: number): NonNullable<CommitPlan['writes']> {
  return Array.from({ length: count }, () => ({ Put: { TableName, Item: { id: crypto.randomUUID(), total: 100 } } }))
}

interface BatchWalk {
  readonly groupCommit: boolean
  /** @defaultValue 10 */
  readonly records?: number
  /** How it comes a second time, which is the path then. */
  readonly again?: (event: SQSEvent) => SQSEvent
}

function batch({ groupCommit, records = RECORDS, again }: BatchWalk): Walk {
  return async ({ idempotency, begin }) => {
    const handle = batchHandler({ idempotency, groupCommit }, () => 'done')
    const event = batchOf(Array.from({ length: records }, () => crypto.randomUUID()))
    await handle(event, invocationContext())
    if (again === undefined) return
    begin()
    await handle(again(event), invocationContext())
  }
}

/** As somebody else's copy of the messages is: it says nothing of an earlier delivery. */
function unchanged(event: SQSEvent): SQSEvent {
  return event
}

/** What a refusal throws is the path. */
function ignore(error: unknown): void {
  const isExpected = error instanceof Error && EXPECTED.includes(error.name)
  if (!isExpected) throw error
}

const EXPECTED = ['NoEffectError', 'RetryLater', 'InProgressError', 'MismatchError', 'WaitingError']

/** Text that hardly compresses, the same each time. */
function textOf(length: number): string {
  return createHash('shake256', { outputLength: length }).update('outcome').digest('base64url').slice(0, length)
}
