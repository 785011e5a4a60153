import { EventSourceMapping, FilterCriteria, type IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { knownNumber } from '../read/template-resource.ts'
import { grantConsume } from './grants.ts'
import type { IdempotentQueueProps } from './idempotent-queue.ts'

const DEFAULT_BATCH_SIZE = 10
const LEAST_CONCURRENCY = 2

/** Has Lambda hand the queue's messages to the consumer, and delete only those that were worked off. */
export function mappingOf(
  scope: Construct,
  consumer: IFunction,
  queue: IQueue,
  props: IdempotentQueueProps,
): EventSourceMapping {
  const { maxBatchingWindow, maxConcurrency, filters } = props
  // An imported function may come without its role; that is warned of.
  if (consumer.role) grantConsume(consumer, queue)
  // A lower one ends the synthesis with our reason; here CDK would throw its own, and nothing else be said.
  const isRefused = (knownNumber(maxConcurrency) ?? LEAST_CONCURRENCY) < LEAST_CONCURRENCY
  return new EventSourceMapping(scope, 'EventSourceMapping', {
    target: consumer,
    eventSourceArn: queue.queueArn,
    batchSize: props.batchSize ?? DEFAULT_BATCH_SIZE,
    reportBatchItemFailures: true,
    ...(maxBatchingWindow && { maxBatchingWindow }),
    ...(maxConcurrency !== undefined && !isRefused && { maxConcurrency }),
    ...(filters && { filters: filters.map((pattern) => FilterCriteria.filter(pattern)) }),
  })
}
