import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { type QueuePoller, type QueuePollerOptions, startQueuePoller } from './event-source-mapping/queue-poller.ts'
import { type StreamPoller, startStreamPoller } from './event-source-mapping/stream-poller.ts'
import type { InvocableFunction } from './lambda/invocation.ts'
import { startTicker, type Ticker, type TickerOptions } from './schedules/ticker.ts'
import type { LocalModel, LocalQueue } from './template/model.ts'

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' }
// Every loop of every mapping holds a connection in its long poll; the SDK's default of 50 would starve the deletions.
const MAX_SOCKETS = 500

/** Options of {@link startEventSources}. */
export interface EventSourcesOptions {
  readonly model: LocalModel
  readonly sqsEndpoint: string
  /** Needed when the model has streams. */
  readonly dynamoDbEndpoint: string | undefined
  /** @throws Error when there is none of that name. */
  readonly functionNamed: (name: string) => InvocableFunction
  /** Receives from a queue with this visibility instead of the template's. */
  readonly visibilitySecondsOf?: (queue: LocalQueue, functionTimeoutSeconds: number) => number
  /** The period of schedules, instead of the template's. */
  readonly scheduleEverySeconds?: number | undefined
  readonly afterSuccess?: QueuePollerOptions['afterSuccess']
  readonly onBatch?: QueuePollerOptions['onBatch']
  readonly onScheduledRun?: TickerOptions['onRun']
}

/** Everything that invokes functions by itself: queues, streams and schedules. */
export interface EventSources {
  /** No stream has a record left, as far as its poller has looked. */
  streamsAreIdle(): boolean
  /** Starts nothing new; resolves when what is in flight is done. */
  stop(): Promise<void>
}

/** Starts the event source mappings and schedules of a model. */
export async function startEventSources(options: EventSourcesOptions): Promise<EventSources> {
  const { model, functionNamed } = options
  const { region } = model
  const requestHandler = { httpAgent: { maxSockets: MAX_SOCKETS } }
  const sqs = new SQSClient({ endpoint: options.sqsEndpoint, region, credentials: CREDENTIALS, requestHandler })
  const dynamoDb = new DynamoDBStreamsClient({
    ...(options.dynamoDbEndpoint !== undefined && { endpoint: options.dynamoDbEndpoint }),
    region,
    credentials: CREDENTIALS,
  })
  const queueWith = (arn: string, whose: string): LocalQueue => {
    const found = model.queues.find((queue) => queue.arn === arn)
    if (found === undefined) throw new Error(`${whose}: no queue ${arn} in the template`)
    return found
  }

  const pollQueue = (mapping: LocalModel['queueMappings'][number]): QueuePoller => {
    const queue = queueWith(mapping.queueArn, mapping.logicalId)
    const worker = functionNamed(mapping.functionName)
    const visibilitySeconds = options.visibilitySecondsOf?.(queue, worker.definition.timeoutSeconds)
    return startQueuePoller({ ...options, mapping, queue, worker, client: sqs, visibilitySeconds })
  }
  const followStream = (mapping: LocalModel['streamMappings'][number]): Promise<StreamPoller> => {
    const { streamArn, logicalId, onFailureQueueArn } = mapping
    const table = model.tables.find((one) => one.streamArn === streamArn)
    if (table === undefined) throw new Error(`${logicalId}: no table with the stream ${streamArn} in the template`)
    // Found now, not at the first failure.
    if (onFailureQueueArn !== undefined) queueWith(onFailureQueueArn, logicalId)
    return startStreamPoller({
      ...options,
      mapping,
      tableName: table.name,
      worker: functionNamed(mapping.functionName),
      client: dynamoDb,
      sendFailure: async (queueArn, MessageBody) => {
        await sqs.send(new SendMessageCommand({ QueueUrl: queueWith(queueArn, logicalId).url, MessageBody }))
      },
    })
  }
  const tick = (schedule: LocalModel['schedules'][number]): Ticker =>
    startTicker({
      schedule,
      worker: functionNamed(schedule.functionName),
      everySeconds: options.scheduleEverySeconds,
      ...(options.onScheduledRun && { onRun: options.onScheduledRun }),
    })

  const running: { stop(): Promise<void> }[] = []
  const stop = async (): Promise<void> => {
    try {
      await Promise.all(running.map((one) => one.stop()))
    } finally {
      sqs.destroy()
      dynamoDb.destroy()
    }
  }
  try {
    const streams: StreamPoller[] = []
    for (const mapping of model.streamMappings) {
      const stream = await followStream(mapping)
      running.push(stream)
      streams.push(stream)
    }
    for (const mapping of model.queueMappings) running.push(pollQueue(mapping))
    for (const schedule of model.schedules) running.push(tick(schedule))
    return Object.freeze({ streamsAreIdle: () => streams.every((stream) => stream.isIdle()), stop })
  } catch (error) {
    // What failed first is the news; a failure to stop after it is not.
    await stop().catch(() => undefined)
    throw error
  }
}
