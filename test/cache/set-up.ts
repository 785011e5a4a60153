import { type CachedStoreOptions, cachedStore } from '../../lib/cache/index.ts'
import { createIdempotency, type IdempotencyOptions } from '../../lib/index.ts'
import { type MemoryStore, memoryStore } from '../../lib/memory/index.ts'
import { type FakeClock, fakeClock } from '../core/fake-clock.ts'

/** The store of a table that several processes share, and one process that remembers. */
export function process(
  {
    store = memoryStore(),
    clock = fakeClock(),
    ...cache
  }: CachedStoreOptions & { store?: MemoryStore; clock?: FakeClock } = {},
  options: Partial<IdempotencyOptions> = {},
) {
  const asked: string[] = []
  const watched: MemoryStore = Object.fromEntries(
    Object.entries(store).map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        asked.push(name)
        return (method as (...args: unknown[]) => unknown).apply(watched, args)
      },
    ]),
  ) as unknown as MemoryStore
  return {
    store,
    clock,
    idempotency: createIdempotency({ store: cachedStore(watched, cache), clock, namespace: 'payments', ...options }),
    /** What the table was asked for since the last look. */
    asked: () => asked.splice(0),
  }
}
