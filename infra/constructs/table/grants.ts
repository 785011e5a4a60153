/** What a function does with the table beyond claiming, running, completing and committing operations. */
export interface IdempotencyGrantOptions {
  /**
   * It claims the records of a batch together.
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
const GROUP_COMMIT_ACTIONS = ['dynamodb:PartiQLInsert', 'dynamodb:PartiQLUpdate', 'dynamodb:PartiQLSelect']

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

/** A relay only marks what it has sent, or could not send. */
export const RELAY_ACTIONS: readonly string[] = ['dynamodb:UpdateItem']

/** What Lambda does to read a stream for a function. */
export const STREAM_ACTIONS: readonly string[] = [
  'dynamodb:DescribeStream',
  'dynamodb:GetRecords',
  'dynamodb:GetShardIterator',
]

/** What Lambda does to find the table's stream, which is named by the time it was made. */
export const STREAM_LIST_ACTIONS: readonly string[] = ['dynamodb:ListStreams']

/** What DynamoDB does with a customer managed key on behalf of whoever reads and writes the table. */
export const KEY_ACTIONS: readonly string[] = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey*',
  'kms:ReEncrypt*',
]
