import type { Check } from './check.ts'
import { below, over, type QueueFacts } from './queue-facts.ts'

/** What the poller starts with; a function that may run less often is throttled at once. */
const INITIAL_POLLERS = 5
const MOST_FIFO_BATCH = 10
const MOST_BATCH_WITHOUT_WINDOW = 10
const MOST_BATCH = 10_000

/** What is refused or warned of in the mapping between a queue and its function. */
export const EVENT_SOURCE_CHECKS: readonly Check<QueueFacts>[] = [
  {
    id: 'batch-item-failures-off',
    severity: 'refused',
    about: 'event source without `ReportBatchItemFailures`',
    find: ({ reportsBatchItemFailures, batchSize }) =>
      reportsBatchItemFailures
        ? undefined
        : `The event source does not take partial failures (0 of 1 response types): Lambda deletes all${batchSize === undefined ? '' : ` ${batchSize}`} messages of a batch, failed ones too. Set reportBatchItemFailures to true.`,
  },
  {
    id: 'batching-window-on-fifo',
    severity: 'refused',
    about: 'batching window on a FIFO queue',
    find: ({ fifo, batchingWindowSeconds }) =>
      fifo && over(batchingWindowSeconds, 0)
        ? `The batching window is ${batchingWindowSeconds} s, and a FIFO queue takes only 0 s: Lambda refuses it at deployment. Leave maxBatchingWindow out.`
        : undefined,
  },
  {
    id: 'batch-size-on-fifo',
    severity: 'refused',
    about: 'batch size over 10 on a FIFO queue',
    find: ({ fifo, batchSize }) =>
      fifo && over(batchSize, MOST_FIFO_BATCH)
        ? `The batch size is ${batchSize}, and a FIFO queue gives at most ${MOST_FIFO_BATCH}: Lambda refuses it at deployment. Set batchSize to ${MOST_FIFO_BATCH}.`
        : undefined,
  },
  {
    id: 'batch-size-without-window',
    severity: 'refused',
    about: 'batch size over 10 without a batching window',
    find: ({ fifo, batchSize, batchingWindowSeconds }) =>
      !fifo && over(batchSize, MOST_BATCH_WITHOUT_WINDOW) && below(batchingWindowSeconds, 1)
        ? `The batch size is ${batchSize}, and more than ${MOST_BATCH_WITHOUT_WINDOW} needs a batching window of at least 1 s: Lambda refuses it at deployment. Set maxBatchingWindow to 1 s, or batchSize to ${MOST_BATCH_WITHOUT_WINDOW}.`
        : undefined,
  },
  {
    id: 'batch-size-beyond-limit',
    severity: 'refused',
    about: 'batch size over 10,000',
    find: ({ fifo, batchSize }) =>
      !fifo && over(batchSize, MOST_BATCH)
        ? `The batch size is ${batchSize}, and an event source takes at most ${MOST_BATCH}: Lambda refuses it at deployment. Set batchSize to ${MOST_BATCH} or less.`
        : undefined,
  },
  {
    id: 'max-concurrency-too-low',
    severity: 'refused',
    about: 'maxConcurrency below 2',
    find: ({ maxConcurrency }) =>
      below(maxConcurrency, 2)
        ? `maxConcurrency is ${maxConcurrency}, and an event source takes 2 to 1000: there is no "one at a time" for a queue. Set it to 2 (claims keep repetitions apart), or use a FIFO queue with one message group.`
        : undefined,
  },
  {
    id: 'reserved-below-max-concurrency',
    severity: 'refused',
    about: 'reserved concurrency below maxConcurrency',
    find: ({ reservedConcurrency, maxConcurrency }) =>
      below(reservedConcurrency, maxConcurrency)
        ? `The function's reserved concurrency (${reservedConcurrency}) is below the event source's maxConcurrency (${maxConcurrency}): the difference is throttled, and throttled messages use up receives. Set reservedConcurrentExecutions to at least ${maxConcurrency}, or maxConcurrency to less.`
        : undefined,
  },
  {
    id: 'reserved-without-max-concurrency',
    severity: 'warned',
    about: 'reserved concurrency below 5 without maxConcurrency',
    find: ({ reservedConcurrency, maxConcurrency }) =>
      maxConcurrency === undefined && below(reservedConcurrency, INITIAL_POLLERS)
        ? `The function's reserved concurrency (${reservedConcurrency}) is below the ${INITIAL_POLLERS} batches Lambda starts with: throttled messages use up receives. Set maxConcurrency to what the function may run, at least 2.`
        : undefined,
  },
  {
    id: 'filter-deletes-messages',
    severity: 'refused',
    about: 'event filters: messages that match none are deleted',
    acknowledgedBy: 'acknowledgeDrop',
    find: ({ filters, acknowledgeDrop }) =>
      filters > 0 && !acknowledgeDrop
        ? `The event source has ${filters} filters, and a message that matches 0 of them is deleted, not kept: no dead letter, no trace. Filter in the handler, or set acknowledgeDrop: true.`
        : undefined,
  },
]
