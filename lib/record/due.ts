import type { OperationRecord } from './record.ts'

/** How long after a lease has ended or was given up a reconciler looks, in ms: a redelivery usually comes first. */
const GRACE_MS = 60_000
/** Twice as long with every attempt, up to this often: what fails every time is not tried every minute for ever. */
const MAX_DOUBLINGS = 10

/** Where the index has an item. Fields that are `undefined` take it out; no fields at all: no reconciler is there. */
export interface Due {
  readonly dueShard?: string | undefined
  readonly dueAtMs?: number | undefined
}

type Watched = Pick<OperationRecord, 'status' | 'takeover' | 'attempt'> & {
  readonly [K in 'leaseUntil' | 'resumeAtMs' | 'continuation' | 'canProbe' | 'isAdmission']?:
    | OperationRecord[K]
    | undefined
}

/** From when on a reconciler has to look at the record, in ms; `undefined`: never. */
export function recordDueAtMs(record: Watched, nowMs: number): number | undefined {
  switch (record.status) {
    case 'IN_PROGRESS':
      if (record.takeover === 'never' || record.isAdmission || record.leaseUntil === undefined) return undefined
      return record.leaseUntil + GRACE_MS
    case 'RETRYABLE':
      return nowMs + patienceMs(record)
    case 'WAITING':
      if (record.resumeAtMs === undefined) return undefined
      return record.continuation === undefined ? record.resumeAtMs : record.resumeAtMs + GRACE_MS
    case 'UNKNOWN':
      return record.canProbe ? nowMs + patienceMs(record) : undefined
    case 'COMPLETED':
    case 'FAILED':
    case 'RELEASED':
      return undefined
  }
}

/** How long an operation that was given up is left to redeliveries, in ms: from a minute up to 17 hours. */
export function patienceMs({ attempt }: Pick<OperationRecord, 'attempt'>): number {
  return GRACE_MS * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS)
}

/** The index fields of an item that is due then. */
export function dueFrom(
  { namespace, reconcilerShards }: { readonly namespace: string; readonly reconcilerShards: number },
  id: string,
  dueAtMs: number | undefined,
): Due {
  if (reconcilerShards === 0) return {}
  if (dueAtMs === undefined) return { dueShard: undefined, dueAtMs: undefined }
  // The id ends in a hash, so any of its bytes spread evenly.
  const spread = Buffer.from(id.slice(-43), 'base64url').readUInt32BE(0)
  return { dueShard: dueShardName(namespace, spread % reconcilerShards), dueAtMs }
}

/** One partition of the index. A shard takes about 1,000 writes a second. */
export function dueShardName(namespace: string, index: number): string {
  return `${namespace}#${index}`
}
