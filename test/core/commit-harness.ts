import {
  createIdempotency,
  type Idempotency,
  type IdempotencyOptions,
  type OperationEvent,
  type OperationRecord,
  OUTBOX_PREFIX,
  RECEIPT_PREFIX,
  type TransactWrite,
} from '../../lib/index.ts'
import { type MemoryStore, memoryStore, type Transact } from '../../lib/memory/index.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { type Faults, type FaultyStore, faultyStore } from './faulty-store.ts'

/** One of the caller's own writes, on an item that no test looks into. */
export const WRITE: TransactWrite = { Put: { TableName: 'ledger', Item: { id: 'row-1', amount: 100 } } }
export const QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/111122223333/orders'
export const MESSAGE = { to: { queueUrl: QUEUE_URL }, body: { paid: true } }

/** An engine with a relay and a reconciler deployed, over a memory store whose calls can be made to fail. */
export interface CommitHarness {
  readonly idempotency: Idempotency
  readonly clock: FakeClock
  readonly memory: MemoryStore
  readonly store: FaultyStore
  readonly events: OperationEvent[]
  /** The first record, if there is one. */
  record(): OperationRecord | undefined
  /** What lies in the outbox of the first record, or of that operation. */
  outbox(id?: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  receiptItems(): Promise<readonly Readonly<Record<string, unknown>>[]>
}

export function setUpCommits(
  options: Partial<IdempotencyOptions> = {},
  { faults = {}, transact }: { readonly faults?: Faults; readonly transact?: Transact } = {},
): CommitHarness {
  const memory = memoryStore(transact === undefined ? {} : { transact })
  const store = faultyStore(memory, faults)
  const clock = fakeClock()
  const events: OperationEvent[] = []
  const idempotency = createIdempotency({
    store,
    clock,
    namespace: 'payments',
    relay: true,
    reconcilerShards: 1,
    reconcilerRecovers: true,
    random: () => 0.5,
    observer: (event) => events.push(event),
    ...options,
  })
  const record = () => memory.records()[0]
  const beside = async (prefix: string, id = record()?.id ?? '') =>
    (await memory.listBeside(id, prefix)).map(({ attributes }) => attributes)
  return {
    idempotency,
    clock,
    memory,
    store,
    events,
    record,
    outbox: (id) => beside(OUTBOX_PREFIX, id),
    receiptItems: () => beside(RECEIPT_PREFIX),
  }
}
