import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cachedStore } from '../../lib/cache/index.ts'
import { createIdempotency, NoEffectError, type Operation, PermanentError, RetryLater } from '../../lib/index.ts'
import { memoryStore } from '../../lib/memory/index.ts'
import { fakeClock } from '../core/fake-clock.ts'

const LARGE = 'x'.repeat(3_000)

type Work = 'value' | 'nothing' | 'large' | 'failing' | 'later' | 'released' | 'steps' | 'committed'

const WORKS: Record<Work, (operation: Operation) => unknown> = {
  value: () => 'done',
  nothing: () => undefined,
  large: () => [LARGE, Math.PI],
  failing: () => Promise.reject(new PermanentError('no')),
  later: () => Promise.reject(new RetryLater('busy')),
  released: () => Promise.reject(new NoEffectError('nothing')),
  steps: async ({ step }: Operation) => [await step('one', () => 1), await step('two', () => LARGE)],
  committed: ({ commit }: Operation) => commit('committed'),
}

const requests = fc.record({
  process: fc.constantFrom(0, 1, 2),
  key: fc.constantFrom('a', 'b'),
  scope: fc.constantFrom('tenant-1', 'tenant-2'),
  input: fc.constantFrom(1, 1, 1, 2),
  work: fc.constantFrom(...(Object.keys(WORKS) as Work[])),
  laterMs: fc.constantFrom(0, 0, 0, 500, 1_000, 30_000, 59_000, 61_000, 901_000),
})
type Request = typeof requests extends fc.Arbitrary<infer T> ? T : never

/** Three processes over one table, and how often the table was asked. */
function world(remembers: boolean) {
  const table = memoryStore()
  const clock = fakeClock()
  let asked = 0
  const store = { ...table, put: (...args: Parameters<typeof table.put>) => table.put(...args).finally(() => asked++) }
  const processes = [1, 2, 3].map((size) =>
    createIdempotency({
      store: remembers ? cachedStore(store, { maxEntries: size }) : store,
      clock,
      namespace: 'payments',
      retentionSeconds: 60,
      leaseSeconds: 10,
    }),
  )
  return {
    asked: () => asked,
    async answer({ process, key, scope, input, work, laterMs }: Request): Promise<unknown> {
      clock.advance(laterMs)
      return processes[process]!.run({ key, scope, input }, WORKS[work]).catch(String)
    },
  }
}

test('whatever is asked of several processes, and when, the answers are those of the table itself', async () => {
  let saved = 0
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 10, maxLength: 40 }), async (asked) => {
      const [cached, plain] = [world(true), world(false)]
      for (const request of asked) expect(await cached.answer(request)).toEqual(await plain.answer(request))
      expect(cached.asked()).toBeLessThanOrEqual(plain.asked())
      saved += plain.asked() - cached.asked()
    }),
    { numRuns: 300 },
  )
  expect(saved).toBeGreaterThan(0)
})
