import { StoreError } from '../core/errors.ts'

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
const ADVICE: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'The table does not exist in this region and account: check tableName and the region.',
  AccessDeniedException:
    "The function's role may not do this: grant it GetItem, PutItem, UpdateItem and BatchGetItem on the table.",
  CredentialsProviderError: 'No AWS credentials were found.',
}

/**
 * An error of the SDK as a `StoreError`. Only a refusal by the service (4xx other than throttling) is sure to have
 * written nothing; after time-outs, resets, 5xx and answers that do not parse, nobody knows.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
export function toStoreError(error: unknown, action: string, tableName: string): StoreError {
  const name = error instanceof Error ? error.name : 'unknown error'
  const message = error instanceof Error ? error.message : String(error)
  const status = statusOf(error)
  const refused = (status !== undefined && status >= 400 && status < 500) || name === 'CredentialsProviderError'
  const advice = Object.hasOwn(ADVICE, name) ? ` ${ADVICE[name]}` : ''
  return new StoreError(`DynamoDB ${action} on table "${tableName}" failed: ${name}: ${message}${advice}`, {
    cause: error,
    retryable: !refused || TRANSIENT_NAMES.includes(name),
  })
}

/** Whether a condition did not hold. Known by name: two copies of the SDK are common in real bundles. */
export function isConditionFailed(error: unknown): error is Error & { readonly Item?: unknown } {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException'
}

function statusOf(error: unknown): number | undefined {
  const metadata: unknown = error instanceof Error ? Reflect.get(error, '$metadata') : undefined
  const status: unknown =
    typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'httpStatusCode') : undefined
  return typeof status === 'number' ? status : undefined
}
