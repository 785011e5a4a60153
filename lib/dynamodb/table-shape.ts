import { OUTBOX_PREFIX, TTL_ATTRIBUTE } from '../record/record.ts'

export { OUTBOX_PREFIX, TTL_ATTRIBUTE }

/** The table's partition key, a string: an operation's id. */
export const PARTITION_KEY = 'pk'
/** The table's sort key, a string: what lies under the operation. */
export const SORT_KEY = 'sk'

/** The index in which a reconciler finds what is due. Sparse: only items with both of its keys are in it. */
export const INDEX_NAME = 'due'
/** Its partition key, a string: one of a few shards, since one partition takes about 1,000 write units a second. */
export const INDEX_PARTITION_KEY = 'dueShard'
/** Its sort key, a number: from when on there is something to do, in ms. */
export const INDEX_SORT_KEY = 'dueAtMs'
/** What the index carries beside the keys: enough to choose by; the base item is read again before anything is done. */
export const INDEX_ATTRIBUTES: readonly string[] = ['status']
