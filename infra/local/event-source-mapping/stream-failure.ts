import type { InvocationResult } from '../lambda/invocation.ts'
import type { Attempt, GiveUpCondition } from './stream-attempt.ts'

/** A batch that was given up. */
export interface GivenUpBatch {
  readonly attempt: Attempt
  readonly condition: GiveUpCondition
  /** How the last invocation with it ended; undefined when there was none. */
  readonly lastResult: InvocationResult | undefined
  readonly functionArn: string
  readonly streamArn: string
  readonly shardId: string
}

/**
 * What Lambda sends to the destination of failed batches: where the records are in the stream, not the records
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html).
 */
export function failureMessage(batch: GivenUpBatch, nowMs: number): object {
  const { attempt, condition, lastResult, functionArn, streamArn, shardId } = batch
  const { records, invocations } = attempt
  const requestId = lastResult === undefined || lastResult.kind === 'throttled' ? '' : lastResult.requestId
  return {
    requestContext: { requestId, functionArn, condition, approximateInvokeCount: invocations },
    responseContext: {
      statusCode: 200,
      executedVersion: '$LATEST',
      ...(lastResult?.kind === 'error' && { functionError: 'Unhandled' }),
    },
    version: '1.0',
    timestamp: new Date(nowMs).toISOString(),
    DDBStreamBatchInfo: {
      shardId,
      startSequenceNumber: records[0]?.dynamodb.SequenceNumber,
      endSequenceNumber: records.at(-1)?.dynamodb.SequenceNumber,
      approximateArrivalOfFirstRecord: arrival(records[0]),
      approximateArrivalOfLastRecord: arrival(records.at(-1)),
      batchSize: records.length,
      streamArn,
    },
  }
}

function arrival(record: Attempt['records'][number] | undefined): string | undefined {
  if (record === undefined) return undefined
  // To the second, unlike the timestamp.
  return new Date(record.dynamodb.ApproximateCreationDateTime * 1000).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
