import { setTimeout as sleep } from 'node:timers/promises'
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams'
import type { InvocableFunction, InvocationResult } from '../lambda/invocation.ts'
import type { LocalStreamMapping } from '../template/model.ts'
import { type BatchReport, batchVerdict } from './batch-response.ts'
import { passesFilters } from './filter-match.ts'
import { type Attempt, afterInvocation, type GiveUpCondition, splitByAge } from './stream-attempt.ts'
import { type StreamEventRecord, streamEventRecord } from './stream-event.ts'
import { failureMessage } from './stream-failure.ts'
import { dueShards, engineStreamArn, isClosed, listShards, openShard, type ShardReader } from './stream-shards.ts'

// Lambda polls a shard four times a second.
const POLL_MS = 250
const LOOK_FOR_SHARDS_MS = 1000
const THROTTLE_BACKOFF_MS = 200
// Lambda's own back-off grows to a minute; nobody watches that long.
const RETRY_BACKOFF_MS = 200
const MAX_RETRY_BACKOFF_MS = 5000

/** Options of {@link startStreamPoller}. */
export interface StreamPollerOptions {
  readonly mapping: LocalStreamMapping
  readonly tableName: string
  readonly worker: InvocableFunction
  readonly client: DynamoDBStreamsClient
  /** Sends a message to the queue that hears of batches given up. */
  readonly sendFailure: (queueArn: string, body: string) => Promise<void>
  /** Hears of every batch and how it ended. */
  readonly onBatch?: (batch: BatchReport) => void
}

/** A running event source mapping of a stream. */
export interface StreamPoller {
  /** It has nothing in hand, and at its last look there was nothing new. */
  isIdle(): boolean
  /** Takes no new batch and retries none; resolves when those in flight are done. */
  stop(): Promise<void>
}

/** Follows a table's stream for a function as Lambda does; resolves when it has its place in every shard there is. */
export async function startStreamPoller(options: StreamPollerOptions): Promise<StreamPoller> {
  const { mapping, tableName, worker, client } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined)
  const engineArn = await engineStreamArn(client, tableName)
  const begun = new Set<string>()
  const finished = new Set<string>()
  const busy = new Set<string>()
  const following: Promise<void>[] = []

  const invoke = async (records: readonly StreamEventRecord[]): Promise<InvocationResult> => {
    for (;;) {
      const result = await worker.invoke({ Records: records })
      if (result.kind !== 'throttled' || signal.aborted) return result
      await pause(THROTTLE_BACKOFF_MS)
    }
  }

  const giveUp = async (
    shardId: string,
    attempt: Attempt,
    condition: GiveUpCondition,
    lastResult: InvocationResult | undefined,
  ): Promise<void> => {
    const { onFailureQueueArn, streamArn } = mapping
    if (onFailureQueueArn === undefined) return
    const functionArn = worker.definition.arn
    const message = failureMessage({ attempt, condition, lastResult, functionArn, streamArn, shardId }, Date.now())
    await options.sendFailure(onFailureQueueArn, JSON.stringify(message))
  }

  const deliver = async (shardId: string, records: readonly StreamEventRecord[]): Promise<void> => {
    const pending: Attempt[] = [{ records, invocations: 0 }]
    let failures = 0
    let lastResult: InvocationResult | undefined
    for (let attempt = pending.shift(); attempt && !signal.aborted; attempt = pending.shift()) {
      const { expired, fresh } = splitByAge(attempt.records, Date.now(), mapping.maxRecordAgeSeconds)
      if (expired.length > 0) {
        await giveUp(shardId, { ...attempt, records: expired }, 'RecordAgeExceeded', lastResult)
      }
      if (fresh.length === 0) continue
      lastResult = await invoke(fresh)
      const ids = fresh.map(({ dynamodb }) => dynamodb.SequenceNumber)
      const verdict = batchVerdict(lastResult, ids, mapping.reportsBatchItemFailures)
      options.onBatch?.({ source: tableName, functionName: mapping.functionName, ids, verdict })
      const next = afterInvocation({ ...attempt, records: fresh }, verdict, mapping)
      if (next.kind === 'give-up') await giveUp(shardId, next.attempt, next.condition, lastResult)
      failures = next.kind === 'again' ? failures + 1 : 0
      if (next.kind !== 'again') continue
      pending.unshift(...next.attempts)
      await pause(Math.min(MAX_RETRY_BACKOFF_MS, RETRY_BACKOFF_MS * 2 ** failures))
    }
  }

  const follow = async (shard: ShardReader): Promise<void> => {
    const { shardId } = shard
    let batch: StreamEventRecord[] = []
    let windowEndsMs = 0
    while (!signal.aborted) {
      const records = await shard.read(mapping.batchSize - batch.length)
      if (records && records.length > 0) busy.add(shardId)
      if (batch.length === 0) windowEndsMs = Date.now() + mapping.windowSeconds * 1000
      batch.push(
        ...(records ?? [])
          .map((record) => streamEventRecord(record, mapping.streamArn))
          .filter((record) => passesFilters(mapping.filters, record)),
      )
      const isFull = batch.length >= mapping.batchSize || records === undefined || Date.now() >= windowEndsMs
      if (batch.length > 0 && isFull) {
        await deliver(shardId, batch)
        batch = []
        continue
      }
      if (records === undefined) break
      if (batch.length === 0 && records.length === 0) busy.delete(shardId)
      if (records.length === 0) await pause(POLL_MS)
    }
    busy.delete(shardId)
    if (!signal.aborted) finished.add(shardId)
  }

  const begin = async (shardId: string, start: LocalStreamMapping['startingPosition']): Promise<void> => {
    begun.add(shardId)
    busy.add(shardId)
    const shard = await openShard(client, engineArn, shardId, start)
    const followed = follow(shard)
    // A loop that breaks is reported by stop(), not as an unhandled rejection somewhere else.
    followed.catch(() => undefined)
    following.push(followed)
  }

  const beginDueShards = async (): Promise<void> => {
    const due = dueShards(await listShards(client, engineArn), begun, finished)
    await Promise.all(due.map((shardId) => begin(shardId, 'TRIM_HORIZON')))
  }

  if (mapping.startingPosition === 'LATEST') {
    // Its place is the end of what is there; a shard that appears later is new from its first record on.
    for (const shard of await listShards(client, engineArn)) {
      const { ShardId = '' } = shard
      if (isClosed(shard)) {
        begun.add(ShardId)
        finished.add(ShardId)
      } else await begin(ShardId, 'LATEST')
    }
  } else await beginDueShards()

  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(LOOK_FOR_SHARDS_MS)
      if (!signal.aborted) await beginDueShards()
    }
  }
  const looking = look()
  looking.catch(() => undefined)
  return Object.freeze({
    isIdle: () => busy.size === 0,
    stop: async () => {
      stopping.abort()
      await looking
      await Promise.all(following)
    },
  })
}
