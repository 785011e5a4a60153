import type { Context } from 'aws-lambda'
import { remainingTimeMs } from '../base/invocation.ts'
import type { Rejection } from '../base/ports.ts'
import type { Delivery } from './delivery.ts'
import type { BatchSettings } from './settings.ts'
import type { FailureReason, Verdict } from './verdict.ts'

/** SQS allows no longer visibility timeout: twelve hours. */
const MAX_VISIBILITY_SECONDS = 43_200

const REJECTIONS: Readonly<Record<Rejection, true>> = {
  poison: true,
  schema: true,
  identifier: true,
  key: true,
  scope: true,
  fingerprint: true,
  deadline: true,
  order: true,
}

/** Tells those who watch that a record was not started or is reported as failed. Never changes the verdict. */
export async function noteFailure<B, R>(
  settings: BatchSettings<B, R>,
  delivery: Delivery<B, R>,
  verdict: Verdict,
  context: Context,
): Promise<Verdict> {
  const { engine, changeVisibility, deadlineMarginMs, onFailure } = settings
  const id = delivery.kind === 'request' ? delivery.operation.id : delivery.id
  const why = verdict.kind === 'failed' ? verdict.why : delivery.kind === 'refused' ? delivery.why : undefined
  if (why !== undefined && isRejection(why)) engine.report({ type: 'rejected', why }, id)
  if (verdict.kind === 'done') return verdict

  const { error, retryAfterMs } = verdict
  const record = delivery.source
  try {
    await onFailure({ why: verdict.why, record, ...(error !== undefined && { error }) })
  } catch (thrown) {
    engine.report({ type: 'hook-failed', hook: 'onFailure', error: thrown }, id)
  }
  const hasTime = (remainingTimeMs(context) ?? Number.POSITIVE_INFINITY) >= deadlineMarginMs
  if (changeVisibility !== undefined && verdict.why === 'in-progress' && retryAfterMs !== undefined && hasTime) {
    try {
      await changeVisibility(record, visibilitySeconds(retryAfterMs))
    } catch (thrown) {
      engine.report({ type: 'hook-failed', hook: 'changeVisibility', error: thrown }, id)
    }
  }
  return verdict
}

function isRejection(why: FailureReason): why is Rejection {
  return Object.hasOwn(REJECTIONS, why)
}

function visibilitySeconds(retryAfterMs: number): number {
  return Math.min(MAX_VISIBILITY_SECONDS, Math.max(1, Math.ceil(retryAfterMs / 1000)))
}
