import type { Context } from 'aws-lambda'
import { remainingTimeMs } from '../base/invocation.ts'
import type { Delivery } from './delivery.ts'
import type { RecordHandler } from './options.ts'
import type { BatchSettings } from './settings.ts'
import { type Verdict, verdictOn } from './verdict.ts'

/** Claims and runs one record, unless the invocation is nearly over: the one place where a batch makes claims. */
export async function attempt<B, R>(
  { engine, deadlineMarginMs }: BatchSettings<B, R>,
  { record, operation }: Extract<Delivery<B, R>, { kind: 'request' }>,
  context: Context,
  handle: RecordHandler<B, R>,
): Promise<Verdict> {
  const startMs = remainingTimeMs(context)
  if (startMs !== undefined && startMs < deadlineMarginMs) return NO_TIME
  const request =
    startMs === undefined ? operation : { ...operation, deadlineMs: engine.settings.clock.now() + startMs }
  let isTooLate = false
  try {
    const answer = await engine.execute(request, (running) => {
      // A claim that had to wait for others, or for DynamoDB, may have used up the time. Only a first attempt can be
      // given back as if it had not been; one that was taken over goes on.
      const leftMs = remainingTimeMs(context)
      isTooLate = leftMs !== undefined && leftMs < deadlineMarginMs && running.attempt === 1
      return isTooLate ? running.release() : handle(record, running, context)
    })
    return isTooLate ? NO_TIME : verdictOn(answer)
  } catch (error) {
    // Only a store that breaks its contract throws here; its record must not take the neighbours along.
    engine.report({ type: 'store-error', during: 'claim', error }, operation.id)
    return { kind: 'failed', why: 'store-unavailable', error }
  }
}

const NO_TIME: Verdict = { kind: 'failed', why: 'deadline' }
