import type middy from '@middy/core'
import type { Context, SQSRecord } from 'aws-lambda'
import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import { contextWith } from '../base/invocation.ts'
import type {
  IdempotentBatchOptions,
  ParsedBatchOptions,
  RecordHandler,
  SourcedBatchOptions,
  ValidatedBatchOptions,
} from './options.ts'
import { runBatch } from './run.ts'
import { recordHandler, resolveBatchOptions } from './settings.ts'
import type { BatchAnswer, EventOf } from './sources/source.ts'

/** Where the middleware leaves the batch of the invocation for {@link eachRecord}. */
export const BATCH: unique symbol = Symbol.for('lambda-once.batch')

/** The batch of one invocation, before its handler is known. */
export interface OpenBatch<B, R = SQSRecord> {
  readonly run: (handle: RecordHandler<B, R>, context: Context) => Promise<BatchAnswer<R>>
}

/**
 * Lambda's context, and the batch that {@link eachRecord} is to run. Optional, so that whoever calls the finished
 * handler needs nothing but Lambda's context.
 */
export type BatchContext<B, R = SQSRecord> = Context & { readonly [BATCH]?: OpenBatch<B, R> }

/** A handler for `.handler(…)`, made by {@link eachRecord}. */
export type RecordsHandler<B, R = SQSRecord> = (
  event: EventOf<R>,
  context: BatchContext<B, R>,
) => Promise<BatchAnswer<R>>

/** The middleware that {@link idempotentBatch} makes. */
export type BatchMiddleware<B, R = SQSRecord> = middy.MiddlewareObj<
  EventOf<R>,
  BatchAnswer<R>,
  Error,
  BatchContext<B, R>
> & {
  /** The same as {@link eachRecord}, with the types of record and body known: Middy's types do not let it through `.handler(…)`. */
  readonly eachRecord: (handle: RecordHandler<B, R>) => RecordsHandler<B, R>
}

/**
 * Makes the handler of a queue or a stream safe to run again: a Middy middleware (Middy 6 and 7).
 * Every record is an operation of its own, and the answer names those that are to be delivered again; the event source
 * needs `ReportBatchItemFailures`.
 *
 * Register it first. It reads the event before other middlewares change it, and its answer is not to be changed.
 *
 * @example
 * export const handler = middy()
 *   .use(idempotentBatch({ idempotency, schema: Payment, key: (record) => record.body.orderId }))
 *   .handler(eachRecord<Payment>(async (record, operation) => {
 *     await charge(record.body, operation.key)
 *   }))
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function idempotentBatch<B, R = SQSRecord>(options: ValidatedBatchOptions<B, R>): BatchMiddleware<B, R>
export function idempotentBatch<B, R>(options: SourcedBatchOptions<B, R>): BatchMiddleware<B, R>
export function idempotentBatch<B = unknown, R = SQSRecord>(options: ParsedBatchOptions<B, R>): BatchMiddleware<B, R>
export function idempotentBatch<B, R>(options: IdempotentBatchOptions<B, R>): BatchMiddleware<B, R> {
  const settings = resolveBatchOptions('idempotentBatch', options)
  const answers = new WeakMap<object, BatchAnswer<R>>()

  return Object.freeze({
    name: 'idempotentBatch',
    eachRecord,

    before(request: Request): undefined {
      if (request.context !== undefined && BATCH in request.context) {
        throw new InvalidOptionError('idempotentBatch is registered twice on one handler. Keep one of the two.')
      }
      const records = settings.source.records(request.event)
      const batch: OpenBatch<B, R> = {
        async run(handle, context) {
          const answer = guarded(await runBatch(settings, records, context, handle))
          answers.set(request, answer)
          return answer
        },
      }
      request.context = contextWith(request.context, BATCH, batch)
    },

    after(request: Request): undefined {
      const { response } = request
      if (typeof response === 'object' && response !== null && response === answers.get(request)) return
      throw new InvalidOptionError(
        `The answer is not that of eachRecord; got ${show(response)}. Use idempotentBatch(…) with .handler(eachRecord(…)), and without @middy/sqs-partial-batch-failure or another middleware that changes the response.`,
      )
    },
  })
}

/**
 * The handler behind {@link idempotentBatch}: what is done with one record. It is called for one record of an operation,
 * whatever the number of its deliveries; what it throws is reported as a failure of this record alone.
 *
 * @throws InvalidOptionError when it is called without the middleware
 */
export function eachRecord<B, R = SQSRecord>(handle: RecordHandler<B, R>): RecordsHandler<B, R> {
  const eachOf = recordHandler('eachRecord(handle)', handle)
  return async (_event, context) => {
    const batch = context?.[BATCH]
    if (batch === undefined) {
      throw new InvalidOptionError(
        'eachRecord needs the middleware: middy().use(idempotentBatch({ … })).handler(eachRecord(…)). Without Middy, use batchHandler.',
      )
    }
    return batch.run(eachOf, context)
  }
}

type Request = middy.Request<unknown, unknown, Error, Context>

/**
 * The answer as it has to stay. Where @middy/sqs-partial-batch-failure runs after this middleware, nobody is left to
 * see that it reports every record as failed, for ever: it would find a result in each index of a list of results, and
 * finds this.
 */
function guarded<R>(answer: BatchAnswer<R>): BatchAnswer<R> {
  Object.freeze(answer.batchItemFailures)
  Object.defineProperty(answer, 0, {
    get() {
      throw new InvalidOptionError(
        'idempotentBatch answers for the batch itself: remove @middy/sqs-partial-batch-failure from this handler.',
      )
    },
  })
  return Object.freeze(answer)
}
