import type { Context, ScheduledEvent } from 'aws-lambda'
import { createSender } from '../lib/outbox/index.ts'
import { type ReconcilerReport, reconciler } from '../lib/reconciler/index.ts'
import { NAMESPACES, serviceIdempotency } from './shared/idempotency.ts'
import { logLine } from './shared/log.ts'

const sender = createSender()
const reconcilers = NAMESPACES.map((namespace) => ({
  namespace,
  reconcile: reconciler({ idempotency: serviceIdempotency(namespace), sender }),
}))

/** Finishes what nobody is working on any more, one family of operations after the other. */
export async function handler(event: ScheduledEvent, context: Context): Promise<Record<string, ReconcilerReport>> {
  const reports: Record<string, ReconcilerReport> = {}
  for (const { namespace, reconcile } of reconcilers) {
    const report = await reconcile(event, context)
    reports[namespace] = report
    logLine('reconciled', { namespace, ...report })
  }
  return reports
}
