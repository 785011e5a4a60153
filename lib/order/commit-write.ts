import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import type { OrderGuard } from './guard.ts'
import type { Write } from './write.ts'

/** A member of a DynamoDB transaction, as lib-dynamodb takes it: Put, Update, Delete or ConditionCheck. */
export type TransactWrite = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** A write that applies only when the stored version is absent or lower. */
export interface GuardedCommitWrite {
  readonly write: Write
  readonly ifNewer: OrderGuard
  /**
   * What a newer stored version does to the commit: the others are written without this one (`skip`), or nothing is
   * written and `CommitConflictError` thrown (`fail`).
   * @defaultValue 'skip'
   */
  readonly onStale?: 'skip' | 'fail'
}

/** One of the caller's own writes in a commit. */
export type CommitWrite = TransactWrite | GuardedCommitWrite
