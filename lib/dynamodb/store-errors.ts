import type { CancellationReason } from '@aws-sdk/client-dynamodb'
import { StoreError } from '../base/errors.ts'
import { INDEX_NAME } from './table-shape.ts'

/** The action that a commit is. */
export const TRANSACTION = 'TransactWriteItems'

/** Errors that come under a 4xx status although the same call may succeed later. */
const TRANSIENT_NAMES: readonly string[] = [
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'RequestTimeout',
  'TransactionConflictException',
  'TransactionInProgressException',
]

/** What to do about the errors that people meet while setting up. */
function adviceFor(name: string, action: string): string {
  switch (name) {
    case 'ResourceNotFoundException':
      return ' The table does not exist in this region and account: check tableName and the region.'
    case 'AccessDeniedException':
      return ` The function's role may not do this: ${grantsFor(action)}`
    case 'IdempotentParameterMismatchException':
      return ' An earlier try of this commit was sent with other content: only two versions of the SDK or of this package in one process can cause that. Whether that try was written, the record tells.'
    case 'CredentialsProviderError':
      return ' No AWS credentials were found.'
    default:
      return ''
  }
}

/** What a role lacks. A transaction has no permission of its own: it needs that of each of its writes. */
function grantsFor(action: string): string {
  if (action === TRANSACTION) {
    return 'grant it dynamodb:UpdateItem and dynamodb:PutItem on the table, and for each of your own writes PutItem, UpdateItem, DeleteItem or ConditionCheckItem on the table it is on.'
  }
  return `grant it dynamodb:${action} on the table (all that is used: GetItem, PutItem, UpdateItem, BatchGetItem and Query, the last one on the index "${INDEX_NAME}" too; for batches PartiQLInsert and PartiQLUpdate as well).`
}

/**
 * An error of the SDK as a `StoreError`. Only a refusal by the service (4xx other than throttling) is sure to have
 * written nothing; after time-outs, resets, 5xx and answers that do not parse, nobody knows.
 *
 * @param tables - the table's name, or those of all tables of a transaction
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
export function toStoreError(error: unknown, action: string, ...tables: readonly string[]): StoreError {
  const failure: Failure = error instanceof Error ? error : { name: 'unknown error', message: String(error) }
  const { name, message, $metadata } = failure
  const status = $metadata?.httpStatusCode
  const refused = (typeof status === 'number' && status >= 400 && status < 500) || name === 'CredentialsProviderError'
  const on = `${tables.length > 1 ? 'tables' : 'table'} ${tables.map((table) => `"${table}"`).join(', ')}`
  return new StoreError(`DynamoDB ${action} on ${on} failed: ${name}: ${message}${adviceFor(name, action)}`, {
    cause: error,
    retryable: !refused || TRANSIENT_NAMES.includes(name),
  })
}

/** Whether a transaction was cancelled, and why, member by member. Known by name, as a failed condition is. */
export function isCancelled(
  error: unknown,
): error is Error & { readonly CancellationReasons?: readonly CancellationReason[] } {
  return error instanceof Error && error.name === 'TransactionCanceledException'
}

/** What is looked at of an error. */
interface Failure {
  readonly name: string
  readonly message: string
  readonly $metadata?: { readonly httpStatusCode?: unknown } | null
}
