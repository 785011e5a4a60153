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
  const leftMs = remainingTimeMs(context)
  if (leftMs !== undefined && leftMs < deadlineMarginMs) return { kind: 'failed', why: 'deadline' }
  const request = leftMs === undefined ? operation : { ...operation, deadlineMs: engine.settings.clock.now() + leftMs }
  try {
    return verdictOn(await engine.execute(request, (running) => handle(record, running, context)))
  } catch (error) {
    // Only a store that breaks its contract throws here; its record must not take the neighbours along.
    engine.report({ type: 'store-error', during: 'claim', error }, operation.id)
    return { kind: 'failed', why: 'store-unavailable', error }
  }
}
