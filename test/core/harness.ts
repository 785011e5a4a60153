import {
  createIdempotency,
  type Idempotency,
  type IdempotencyOptions,
  isLambdaOnceError,
  type OperationEvent,
  type OperationRecord,
} from '../../lib/index.ts'
import { type MemoryStore, memoryStore } from '../../lib/memory/index.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { type Faults, type FaultyStore, faultyStore } from './faulty-store.ts'

/** The request that most tests repeat. */
export const ORDER = { key: 'order-1', input: { amount: 100 } }

/** An engine on a fake clock, over a memory store whose calls can be made to fail. */
export interface Harness {
  readonly idempotency: Idempotency
  readonly clock: FakeClock
  readonly memory: MemoryStore
  readonly store: FaultyStore
  /** The first record, if there is one. */
  record(): OperationRecord | undefined
  /** The types of all events so far. */
  types(): string[]
}

export function setUp(options: Partial<IdempotencyOptions> = {}, faults: Faults = {}): Harness {
  const memory = memoryStore()
  const store = faultyStore(memory, faults)
  const clock = fakeClock()
  const events: OperationEvent[] = []
  const idempotency = createIdempotency({
    store,
    clock,
    namespace: 'payments',
    random: () => 0.5,
    observer: (event) => events.push(event),
    ...options,
  })
  return {
    idempotency,
    clock,
    memory,
    store,
    record: () => memory.records()[0],
    types: () => events.map(({ type }) => type),
  }
}

/** The code of the error a promise rejects with; what it is otherwise, in words. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  )
  return isLambdaOnceError(error) ? error.code : String(error)
}
