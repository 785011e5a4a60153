import { PARTITION_KEY, SORT_KEY } from '../../dynamodb/table-shape.ts'
import { OUTBOX_PREFIX, RECORD_SORT_KEY, type Status } from '../../record/record.ts'
import type { Search } from '../scan.ts'
import type { StoredMessage } from './read.ts'
import type { Standing } from './standing.ts'

/** What `list` can be asked for. */
export const LISTABLE = ['stale', 'unknown', 'stuck', 'waiting', 'failed', 'retryable', 'running', 'completed'] as const
export type Listable = (typeof LISTABLE)[number]

/** What is listed when nothing is asked for: what may need somebody. */
export const NEEDING_SOMEBODY: readonly Listable[] = ['stale', 'unknown', 'stuck']

const STATUS_OF: Readonly<Record<Exclude<Listable, 'stuck'>, Status>> = {
  stale: 'IN_PROGRESS',
  running: 'IN_PROGRESS',
  unknown: 'UNKNOWN',
  waiting: 'WAITING',
  failed: 'FAILED',
  retryable: 'RETRYABLE',
  completed: 'COMPLETED',
}

/** The heading under which a standing is listed; `undefined` for what counts as absent. */
export function headingOf(standing: Standing): Exclude<Listable, 'stuck'> | undefined {
  switch (standing.kind) {
    case 'stopped':
      return 'stale'
    case 'taken':
      return 'running'
    case 'released':
    case 'expired':
      return undefined
    default:
      return standing.kind
  }
}

/** How long a message may lie in the outbox before nobody seems to send it, in ms: a relay takes seconds. */
const OVERDUE_MS = 900_000

/** Why a message needs somebody; `undefined`: it does not. */
export function troubleOf({ found }: StoredMessage, nowMs: number): 'stuck' | 'overdue' | undefined {
  if (found.kind === 'unreadable') return 'stuck'
  const { state, createdAtMs, notBeforeMs = 0 } = found.entry
  if (state === 'stuck') return 'stuck'
  const isOverdue = state === 'pending' && Math.max(createdAtMs, notBeforeMs) + OVERDUE_MS < nowMs
  return isOverdue ? 'overdue' : undefined
}

/** What DynamoDB is asked for. It leaves out what cannot match; what does match is decided here, from the whole item. */
export function searchFor(wanted: readonly Listable[], namespace: string | undefined): Search {
  const statuses = [...new Set(wanted.flatMap((name) => (name === 'stuck' ? [] : [STATUS_OF[name]])))]
  const wantsMessages = wanted.includes('stuck')
  const kinds = [
    ...(statuses.length > 0
      ? [`#sk = :record AND #status IN (${statuses.map((_, index) => `:status${index}`).join(', ')})`]
      : []),
    ...(wantsMessages ? ['begins_with(#sk, :outbox) AND #state IN (:stuck, :pending)'] : []),
  ]
  return {
    FilterExpression: inNamespace(kinds, namespace),
    ExpressionAttributeNames: {
      '#sk': SORT_KEY,
      ...(namespace !== undefined && { '#pk': PARTITION_KEY }),
      ...(statuses.length > 0 && { '#status': 'status' }),
      ...(wantsMessages && { '#state': 'state' }),
    },
    ExpressionAttributeValues: {
      ...(statuses.length > 0 && { ':record': RECORD_SORT_KEY }),
      ...Object.fromEntries(statuses.map((status, index) => [`:status${index}`, status])),
      ...(wantsMessages && { ':outbox': OUTBOX_PREFIX, ':stuck': 'stuck', ':pending': 'pending' }),
      ...(namespace !== undefined && { ':namespace': `${namespace}#` }),
    },
  }
}

/** One of several conditions, in one namespace or in all. DynamoDB refuses parentheses that are not needed. */
export function inNamespace(kinds: readonly string[], namespace: string | undefined): string {
  const whole = kinds.map((kind) => (namespace === undefined ? kind : `${kind} AND begins_with(#pk, :namespace)`))
  return whole.length === 1 ? whole.join() : whole.map((kind) => `(${kind})`).join(' OR ')
}
