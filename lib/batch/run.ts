import type { Context } from 'aws-lambda'
import pLimit from 'p-limit'
import { InvalidEventError } from '../base/errors.ts'
import { remainingTimeMs } from '../base/invocation.ts'
import { attempt } from './attempt.ts'
import { type Delivery, readDeliveries } from './delivery.ts'
import { noteFailure } from './failure.ts'
import type { RecordHandler } from './options.ts'
import { planTurns, type Turn } from './plan.ts'
import type { BatchSettings } from './settings.ts'
import type { BatchAnswer, Source } from './sources/source.ts'
import type { Verdict } from './verdict.ts'

/**
 * Runs every record once, in the order its queue asks for, and answers which are to be delivered again. It answers
 * only when every record that was started has ended: a promise left behind would be frozen with the sandbox and go on
 * in the middle of the next invocation.
 *
 * @throws InvalidEventError when a record has no identifier, which only a failure of the whole invocation can report.
 * The others have run by then, so that they are not held up for ever by one that is never right.
 */
export async function runBatch<B, R>(
  given: BatchSettings<B, R>,
  records: readonly R[],
  context: Context,
  handle: RecordHandler<B, R>,
): Promise<BatchAnswer<R>> {
  const deliveries = await readDeliveries(given, records, context)
  const isGrouped = given.groupCommit && deliveries.length > 1
  const settings = isGrouped ? { ...given, engine: given.engine.grouped(remainingTimeMs(context)) } : given
  const turns = planTurns(deliveries, settings.fifo)
  const limit = pLimit(settings.concurrency)
  const verdicts: Promise<Verdict>[] = []

  async function verdictOn(delivery: Delivery<B, R>, { behind, repeats }: Turn): Promise<Verdict> {
    const before = behind === undefined ? undefined : await verdicts[behind]
    if (before?.kind === 'failed') return { kind: 'failed', why: 'order' }
    if (delivery.kind === 'empty') return { kind: 'done' }
    if (delivery.kind === 'refused') {
      const isAcknowledged = delivery.why === 'poison' && settings.poison === 'ack'
      return isAcknowledged ? { kind: 'done' } : { kind: 'failed', why: delivery.why, error: delivery.error }
    }
    // Waiting takes no place of the limit: the record that is waited for may need it.
    const first = repeats === undefined ? undefined : await verdicts[repeats.index]
    if (first !== undefined && repeats?.isSameRequest) return first
    return limit(() => attempt(settings, delivery, context, handle))
  }

  for (const [index, delivery] of deliveries.entries()) {
    const verdict = verdictOn(delivery, turns[index] ?? {})
    verdicts.push(verdict.then((reached) => noteFailure(settings, delivery, reached, context)))
  }
  return answerOf(settings.source, records, deliveries, await Promise.all(verdicts))
}

/** Only identifiers of the event: an unknown or empty one makes Lambda fail the batch. */
function answerOf<R>(
  source: Source<R>,
  records: readonly R[],
  deliveries: readonly Delivery<unknown, R>[],
  verdicts: readonly Verdict[],
): BatchAnswer<R> {
  const nameless = deliveries.find(({ identifier }) => identifier === undefined)
  if (nameless !== undefined) {
    throw new InvalidEventError(
      `Records[${records.indexOf(nameless.source)}] of ${source.name} has no identifier to be reported under, so the batch fails as a whole. What the other records came to is recorded.`,
    )
  }
  const failed = deliveries.flatMap(({ identifier, group }, index) =>
    identifier === undefined || verdicts[index]?.kind === 'done' ? [] : [{ identifier, group }],
  )
  const batchItemFailures = source.report(failed).map((itemIdentifier) => ({ itemIdentifier }))
  // The source's identifiers are what its records' type says they are.
  return { batchItemFailures } as BatchAnswer<R>
}
