import { judge } from '../../checks/check.ts'
import { QUEUE_CHECKS } from '../../checks/queue-checks.ts'
import type { QueueFacts } from '../../checks/queue-facts.ts'
import { count } from '../terminal/text.ts'
import { type Finding, finding } from './finding.ts'
import type { EventSource, FunctionFacts } from './function.ts'
import type { QueueAttributes } from './queue.ts'
import { relayFindings, relaySources } from './relay.ts'

/** What the person knows that neither SQS nor Lambda does. */
export interface Promised {
  readonly tableName: string
  /** What the application has as `retentionSeconds`. Absent: not said. */
  readonly retentionSeconds: number | undefined
}

/** Judges a queue and the function it feeds by the rules that the constructs of `lambda-once/cdk` refuse by. */
export function deliveryFindings(
  queue: QueueAttributes | undefined,
  handler: FunctionFacts | undefined,
  promised: Promised,
): readonly Finding[] {
  const retentionSeconds = promised.retentionSeconds ?? handler?.retentionSeconds
  return [
    ...(handler === undefined ? [] : functionFindings(handler, promised)),
    ...relaySources(handler?.eventSources ?? [], promised.tableName).flatMap(relayFindings),
    ...(queue === undefined ? sourcesFindings(handler) : queueFindings(queue, handler, retentionSeconds)),
  ]
}

function functionFindings({ tableName, eventSources }: FunctionFacts, promised: Promised): readonly Finding[] {
  const disabled = eventSources.filter(({ isEnabled }) => !isEnabled)
  return [
    ...(tableName !== undefined && tableName !== promised.tableName
      ? [finding('function-table', 'problem', `The function uses the table "${tableName}", not this one.`)]
      : []),
    ...disabled.map(({ arn }) =>
      finding('event-source-disabled', 'warning', `The event source ${arn} is disabled: nothing is delivered.`),
    ),
  ]
}

/** Without the queue's own attributes only the mapping can be judged. */
function sourcesFindings(handler: FunctionFacts | undefined): readonly Finding[] {
  const queues = handler?.eventSources.filter(({ arn }) => arn.includes(':sqs:')) ?? []
  if (handler?.eventSources.length === 0) return [finding('event-source', 'info', 'Nothing feeds the function.')]
  return queues.flatMap((source) =>
    rules(
      { fifo: source.arn.endsWith('.fifo'), deadLetters: { kind: 'unknown' } },
      handler,
      source,
      undefined,
      source.arn,
    ),
  )
}

function queueFindings(
  queue: QueueAttributes,
  handler: FunctionFacts | undefined,
  retentionSeconds: number | undefined,
): readonly Finding[] {
  const source = handler?.eventSources.find(({ arn }) => arn === queue.arn)
  if (handler !== undefined && source === undefined) {
    return [
      finding(
        'event-source',
        'problem',
        `The queue ${queue.arn} does not feed the function: there is no event source mapping between them.`,
      ),
      ...rules(queue, undefined, undefined, retentionSeconds, queue.arn),
    ]
  }
  return [
    ...(retentionSeconds === undefined
      ? [
          finding(
            'retention',
            'skipped',
            'How long a record protects is not known: say --retention-seconds, as the application has it.',
          ),
        ]
      : []),
    ...rules(queue, handler, source, retentionSeconds, queue.arn),
  ]
}

function rules(
  { arn: _arn, ...queue }: Omit<QueueAttributes, 'arn'> & { readonly arn?: string },
  handler: FunctionFacts | undefined,
  source: EventSource | undefined,
  retentionSeconds: number | undefined,
  about: string,
): readonly Finding[] {
  const facts: QueueFacts = {
    ...queue,
    ...(handler?.timeoutSeconds !== undefined && { functionTimeoutSeconds: handler.timeoutSeconds }),
    ...(handler?.reservedConcurrency !== undefined && { reservedConcurrency: handler.reservedConcurrency }),
    ...(retentionSeconds !== undefined && { recordRetentionSeconds: retentionSeconds }),
    outboxSeconds: 0,
    // Where no mapping is known its own rules are kept by definition.
    batchSize: source?.batchSize ?? 1,
    batchingWindowSeconds: source?.batchingWindowSeconds ?? 0,
    ...(source?.maxConcurrency !== undefined && { maxConcurrency: source.maxConcurrency }),
    reportsBatchItemFailures: source?.reportsBatchItemFailures ?? true,
    filters: source?.filters ?? 0,
    acknowledgeDrop: false,
    consumerHasRole: true,
  }
  const broken = judge(QUEUE_CHECKS, facts).map(({ id, severity, message }) =>
    finding(id, severity === 'refused' ? 'problem' : 'warning', `${about}: ${message}`),
  )
  if (broken.length > 0) return broken
  const what = source === undefined ? 'the queue' : 'the queue, the function and the mapping between them'
  return [
    finding(
      'delivery',
      'ok',
      `${about}: all of ${count(QUEUE_CHECKS.length, 'rule')} for ${what} are kept, as far as known.`,
    ),
  ]
}
