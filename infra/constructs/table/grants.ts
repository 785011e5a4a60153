/** What a function does with the table beyond claiming, running, completing and committing operations. */
export interface IdempotencyGrantOptions {
  /**
   * It shares requests between the records of a batch (`groupCommit` of `idempotentBatch`).
   * @default false
   */
  readonly groupCommit?: boolean
  /**
   * It reads receipts (`idempotency.receipts`).
   * @default false
   */
  readonly receipts?: boolean
  /**
   * It is a reconciler, and reads the table's index and outbox.
   * @default false
   */
  readonly reconciler?: boolean
}

/** What every operation needs. A commit needs no more: a transaction is authorised by its puts and updates. */
const STORE_ACTIONS = ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:BatchGetItem']

/** BatchExecuteStatement is authorised by its statements. */
export const GROUP_COMMIT_ACTIONS: readonly string[] = ['dynamodb:PartiQLInsert', 'dynamodb:PartiQLUpdate']

/** For what lies beside a record: receipts and messages. */
const BESIDE_ACTIONS = ['dynamodb:Query']

/** The actions on the table itself. */
export function tableActions(options: IdempotencyGrantOptions): string[] {
  const { groupCommit = false, receipts = false, reconciler = false } = options
  return [
    ...STORE_ACTIONS,
    ...(groupCommit ? GROUP_COMMIT_ACTIONS : []),
    ...(receipts || reconciler ? BESIDE_ACTIONS : []),
  ]
}

/** The actions on the index. */
export const INDEX_ACTIONS: readonly string[] = ['dynamodb:Query']

/** What the command line reads: an operation and what lies beside it, or the whole table, and what the table is like. */
export const OPERATOR_READ_ACTIONS: readonly string[] = [
  'dynamodb:BatchGetItem',
  'dynamodb:DescribeContinuousBackups',
  'dynamodb:DescribeTable',
  'dynamodb:DescribeTimeToLive',
  'dynamodb:GetItem',
  'dynamodb:Query',
  'dynamodb:Scan',
]

/** `list --index` reads the whole index, and `doctor` tries what a reconciler does. */
export const OPERATOR_INDEX_ACTIONS: readonly string[] = ['dynamodb:Query', 'dynamodb:Scan']

/** Acts change a record; a large value is put beside it first. */
export const OPERATOR_WRITE_ACTIONS: readonly string[] = ['dynamodb:PutItem', 'dynamodb:UpdateItem']

/** A relay reads a large body, which lies in parts, and marks what it has sent, or could not send. */
export const RELAY_ACTIONS: readonly string[] = ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem']

/** What Lambda does to read a stream for a function. */
export const STREAM_ACTIONS: readonly string[] = [
  'dynamodb:DescribeStream',
  'dynamodb:GetRecords',
  'dynamodb:GetShardIterator',
]

/** What Lambda does to find the table's stream, which is named by the time it was made. */
export const STREAM_LIST_ACTIONS: readonly string[] = ['dynamodb:ListStreams']

/** What DynamoDB does with a customer managed key on behalf of whoever reads the table. */
export const KEY_READ_ACTIONS: readonly string[] = ['kms:Decrypt', 'kms:DescribeKey']

/** What DynamoDB does with a customer managed key on behalf of whoever reads and writes the table. */
export const KEY_ACTIONS: readonly string[] = [
  ...KEY_READ_ACTIONS,
  'kms:Encrypt',
  'kms:GenerateDataKey*',
  'kms:ReEncrypt*',
]
