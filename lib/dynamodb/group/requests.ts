import { BatchExecuteStatementCommand, type BatchStatementResponse } from '@aws-sdk/client-dynamodb'
import { isLambdaOnceError, StoreError } from '../../base/errors.ts'
import type { OperationRecord } from '../../record/record.ts'
import { valuesOf } from '../attributes.ts'
import { batchRead } from '../batch-read.ts'
import { recordKey, toRecord } from '../items.ts'
import type { ShortConnection } from '../short-cuts.ts'
import { statementFor } from './statements.ts'
import type { GroupAnswer, GroupedWrite, GroupRequests } from './writes.ts'

/** Codes under which the same statement may be sent again. An internal error may come after the write. */
const PASSING_CODES: readonly string[] = [
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'TransactionConflict',
  'InternalServerError',
]

/** Errors that the next batch of statements would meet as well. */
const LASTING_ERRORS: readonly string[] = ['AccessDeniedException', 'UnknownOperationException', 'ValidationException']

/** The requests on a table. They stop where the table, or the function's role, allows no batches of statements. */
export function groupRequests(connection: ShortConnection): GroupRequests {
  const { tableName, call, clientFor } = connection
  let isRefused = false

  /** Said once: every record then has requests of its own, which is slower and as safe. */
  function giveUp(reason: string): void {
    if (isRefused) return
    isRefused = true
    console.warn(
      `lambda-once: table "${tableName}" takes no batches of statements from this function (${reason}), so each record of a batch is written by itself. Grant it dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate on the table, or set groupCommit: false.`,
    )
  }

  function answerOf(answer: unknown): GroupAnswer | undefined {
    // The SDK hands on whatever stands in the list.
    if (typeof answer !== 'object' || answer === null) return undefined
    const { Error: error }: BatchStatementResponse = answer
    if (error === undefined) return { kind: 'applied' }
    const { Code: code = 'no code', Item: item } = error
    if (code === 'AccessDenied') giveUp(code)
    if (PASSING_CODES.includes(code)) return { kind: 'again', code }
    if (code !== 'DuplicateItem' && code !== 'ConditionalCheckFailed') return { kind: 'alone' }
    const existing = item && readable(valuesOf(item))
    return { kind: 'refused', ...(existing && { existing }) }
  }

  return {
    async write(writes: readonly GroupedWrite[]) {
      if (isRefused) throw new StoreError('Batches of statements are refused.', { retryable: false })
      const command = new BatchExecuteStatementCommand({
        Statements: writes.map((write) => statementFor(tableName, write)),
      })
      try {
        const { Responses = [] } = await call('BatchExecuteStatement', () => clientFor(command).send(command))
        return Responses.map(answerOf)
      } catch (error) {
        const cause = error instanceof Error ? error.cause : undefined
        if (cause instanceof Error && LASTING_ERRORS.includes(cause.name)) giveUp(cause.name)
        throw error
      }
    },

    async read(ids: readonly string[], pause: (round: number) => Promise<void>) {
      const items = await batchRead(connection, ids.map(recordKey), pause)
      const records = items.flatMap((item) => readable(item) ?? [])
      return new Map(records.map((record) => [record.id, record]))
    },
  }
}

/** What else lies under a record's key, the record's own read tells. */
function readable(item: Record<string, unknown>): OperationRecord | undefined {
  try {
    return toRecord(item)
  } catch (error) {
    if (isLambdaOnceError(error, 'STORE')) return undefined
    throw error
  }
}
