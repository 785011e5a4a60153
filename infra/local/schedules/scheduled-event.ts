import type { LocalSchedule } from '../template/model.ts'

/** One run of a schedule. */
export interface ScheduledRun {
  readonly id: string
  readonly dueAtMs: number
}

/**
 * What the target of a schedule is invoked with: the event of EventBridge or of EventBridge Scheduler, or the template's
 * own (https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html).
 */
export function scheduledEvent(schedule: LocalSchedule, { id, dueAtMs }: ScheduledRun): unknown {
  const { arn, event } = schedule
  const [, , , region = '', account = ''] = arn.split(':')
  // Both services write times to the second.
  const time = new Date(dueAtMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
  if (event.kind === 'input') {
    const attributes: { readonly [name: string]: string } = {
      'schedule-arn': arn,
      'scheduled-time': time,
      'execution-id': id,
      'attempt-number': '1',
    }
    return JSON.parse(
      event.json.replace(/<aws\.scheduler\.([a-z-]+)>/g, (all, name: string) => attributes[name] ?? all),
    )
  }
  const isRule = event.kind === 'rule'
  return {
    version: '0',
    id,
    'detail-type': 'Scheduled Event',
    source: isRule ? 'aws.events' : 'aws.scheduler',
    account,
    time,
    region,
    resources: [arn],
    // EventBridge Scheduler's default payload has its detail as text.
    detail: isRule ? {} : '{}',
  }
}
