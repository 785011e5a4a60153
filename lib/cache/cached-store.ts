import { InvalidOptionError } from '../base/errors.ts'
import { integerOption, refuseUnknown, secondsOption, show } from '../base/guards.ts'
import { withChange } from '../memory/holds.ts'
import type { OperationRecord } from '../record/record.ts'
import type { GroupPacing, RecordChange, StandingCondition, Store, WriteAnswer } from '../record/store.ts'
import { createRemembered, type Remembered } from './remembered.ts'
import { isUsable } from './usable.ts'

/** Options of {@link cachedStore}. */
export interface CachedStoreOptions {
  /**
   * How many records, and large outcomes beside them, are remembered at most.
   * @defaultValue 1000
   */
  readonly maxEntries?: number
  /**
   * How many bytes they may take together.
   * @defaultValue 10 000 000
   */
  readonly maxBytes?: number
  /**
   * After how many seconds the store is asked again. Until then this process does not see what an operator has done to a
   * finished operation. A record that expires earlier is forgotten earlier.
   * @defaultValue 300
   */
  readonly maxAgeSeconds?: number
}

/** The defaults of {@link CachedStoreOptions}. */
export const CACHE_DEFAULTS: Readonly<Required<CachedStoreOptions>> = /* @__PURE__ */ Object.freeze({
  maxEntries: 1_000,
  maxBytes: 10_000_000,
  maxAgeSeconds: 300,
})

/**
 * Remembers the outcomes of finished operations in this process, so that a repetition of one of them is answered without
 * a request. Only claims that would be refused anyway are answered so: a first execution asks the store as ever, and so
 * does a repetition of anything unfinished.
 *
 * @example
 * const store = cachedStore(dynamoStore({ tableName: 'operations' }))
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function cachedStore(store: Store, options: CachedStoreOptions = {}): Store {
  refuseUnknown('cachedStore', options, Object.keys(CACHE_DEFAULTS))
  if (typeof store?.put !== 'function') {
    throw new InvalidOptionError(
      `cachedStore(store, options): store must be a store, such as dynamoStore(); got ${show(store)}.`,
    )
  }
  const maxEntries = integerOption('maxEntries', options.maxEntries, 1, MAX_ENTRIES)
  const maxBytes = integerOption('maxBytes', options.maxBytes, 1, MAX_BYTES)
  const maxAgeSeconds = secondsOption('maxAgeSeconds', options.maxAgeSeconds, 0)
  const memory = createRemembered({
    maxEntries: maxEntries ?? CACHE_DEFAULTS.maxEntries,
    maxBytes: maxBytes ?? CACHE_DEFAULTS.maxBytes,
  })
  return remembering(store, memory, (maxAgeSeconds ?? CACHE_DEFAULTS.maxAgeSeconds) * 1000)
}

/** The list of entries is made at once. */
const MAX_ENTRIES = 100_000
/** As much memory as a function can have: 10 GB. */
const MAX_BYTES = 10_240_000_000

function remembering(store: Store, memory: Remembered, maxAgeMs: number): Store {
  const grouped = store.grouped?.bind(store)

  /** What a write has told of the record; what it has not told, or not for sure, is forgotten. */
  async function learning(
    id: string,
    atMs: number,
    write: () => Promise<WriteAnswer>,
    apply: () => void,
  ): Promise<WriteAnswer> {
    try {
      const answer = await write()
      if (answer.applied) apply()
      else if (answer.existing === undefined) memory.forgetRecord(id)
      else memory.keepRecord(answer.existing, atMs)
      return answer
    } catch (error) {
      memory.forgetRecord(id)
      throw error
    }
  }

  function changed(id: string, change: RecordChange, condition: StandingCondition): void {
    const known = memory.record(id)?.record
    if (known !== undefined && isExactly(known, condition))
      memory.keepRecord(withChange(known, change), change.updatedAtMs)
    else memory.forgetRecord(id)
  }

  return Object.freeze({
    async put(record, condition): Promise<WriteAnswer> {
      const { id } = record
      if (condition.kind === 'absent') {
        const known = memory.record(id)
        if (known !== undefined && isUsable(known, condition.moment, maxAgeMs)) {
          return { applied: false, existing: known.record }
        }
      }
      const atMs = condition.kind === 'absent' ? condition.moment.nowMs : record.updatedAtMs
      return learning(
        id,
        atMs,
        () => store.put(record, condition),
        () => memory.keepRecord(record, atMs),
      )
    },

    update: (id, change, condition) =>
      learning(
        id,
        change.updatedAtMs,
        () => store.update(id, change, condition),
        () => changed(id, change, condition),
      ),

    async prepare(id, writes, beside) {
      const prepared = await store.prepare(id, writes, beside)
      return {
        commit(change, condition, requestToken) {
          memory.forgetRecord(id)
          return prepared.commit(change, condition, requestToken)
        },
      }
    },

    async putParts(parts) {
      await store.putParts(parts)
      memory.keepParts(parts.partsId, parts.parts)
    },

    async getParts(partsId, count) {
      const known = memory.parts(partsId, count)
      if (known !== undefined) return known
      const parts = await store.getParts(partsId, count)
      const whole = parts.filter((part) => part !== undefined)
      if (whole.length === count) memory.keepParts(partsId, whole)
      return parts
    },

    // Everything else is asked of the store: whoever reads wants to know how it is now.
    get: (id) => store.get(id),
    putBeside: (id, item) => store.putBeside(id, item),
    updateBeside: (id, sk, set, expected) => store.updateBeside(id, sk, set, expected),
    listBeside: (id, prefix) => store.listBeside(id, prefix),
    listDue: (shard, untilMs, limit) => store.listDue(shard, untilMs, limit),
    ...(grouped && { grouped: (pacing: GroupPacing) => remembering(grouped(pacing), memory, maxAgeMs) }),
  } satisfies Store)
}

/** Whether it is the very record that a change was made of: then the change makes of it what lies in the store. */
function isExactly({ token, rev }: OperationRecord, condition: StandingCondition): boolean {
  return condition.kind === 'seen' && condition.token === token && condition.rev === rev
}
