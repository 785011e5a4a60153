import { isLambdaOnceError, StoreError } from '../base/errors.ts'
import type { Clock, Random } from '../base/ports.ts'
import type { Store } from '../record/store.ts'

const BASE_MS = 50
const CAP_MS = 1_000

/** Left between the last store call and the deadline, so that an answer still gets out, in ms. */
export const ANSWER_RESERVE_MS = 300
/** What a store call gets even where the deadline has passed: it may be the one that saves the outcome. In ms. */
const SHORTEST_CALL_MS = 1_000

interface Pacing {
  readonly clock: Clock
  readonly random: Random
}

/** Waits before the try after this many: longer each time, with full jitter. */
export function backOff({ clock, random }: Pacing, tries: number): Promise<void> {
  return clock.wait(pauseMs(random, tries))
}

function pauseMs(random: Random, tries: number): number {
  return random() * Math.min(CAP_MS, BASE_MS * 2 ** tries)
}

/**
 * Repeats a write that may be repeated until it is answered: with full jitter, until `giveUpAtMs`, at least once.
 * An error that says the store refused the call for good is thrown at once.
 */
export async function untilAnswered<T>(
  write: () => Promise<T>,
  { clock, random, giveUpAtMs }: Pacing & { readonly giveUpAtMs: number },
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await write()
    } catch (error) {
      if (isLambdaOnceError(error) && !error.retryable) throw error
      const pause = pauseMs(random, tries)
      if (clock.now() + pause >= giveUpAtMs) throw error
      await clock.wait(pause)
    }
  }
}

/**
 * The same store, each of whose calls ends with the invocation: one that is not answered in time fails as one whose
 * answer was lost. The client's own time-outs cannot know the deadline, and with their retries take seconds.
 */
export function storeUntil(store: Store, clock: Clock, deadlineMs: number): Store {
  function inTime<T>(call: Promise<T>, giveUp?: () => void): Promise<T> {
    const leftMs = Math.max(deadlineMs - ANSWER_RESERVE_MS - clock.now(), SHORTEST_CALL_MS)
    return new Promise<T>((resolve, reject) => {
      const stop = after(clock, leftMs, () => {
        giveUp?.()
        reject(new StoreError('The store has not answered before the end of the invocation.', { retryable: true }))
      })
      call.then(
        (answer) => {
          stop()
          resolve(answer)
        },
        (error: unknown) => {
          stop()
          reject(error)
        },
      )
    })
  }
  return {
    put(record, condition) {
      if (condition.kind !== 'absent' || !condition.isLikelyTaken) return inTime(store.put(record, condition))
      const over = new AbortController()
      return inTime(store.put(record, { ...condition, signal: over.signal }), () => over.abort())
    },
    update: (id, change, condition) => inTime(store.update(id, change, condition)),
    get: (id) => inTime(store.get(id)),
    putParts: (parts) => inTime(store.putParts(parts)),
    getParts: (partsId, count) => inTime(store.getParts(partsId, count)),
    async prepare(id, writes, beside) {
      const prepared = await store.prepare(id, writes, beside)
      return { commit: (...args) => inTime(prepared.commit(...args)) }
    },
    putBeside: (id, item) => inTime(store.putBeside(id, item)),
    updateBeside: (...args) => inTime(store.updateBeside(...args)),
    listBeside: (id, prefix) => inTime(store.listBeside(id, prefix)),
    listDue: (shard, untilMs, limit) => inTime(store.listDue(shard, untilMs, limit)),
  }
}

function after(clock: Clock, ms: number, act: () => void): () => void {
  if (clock.after !== undefined) return clock.after(ms, act)
  const ended = new AbortController()
  const { signal } = ended
  void clock.wait(ms, signal).then(() => {
    if (!signal.aborted) act()
  })
  // A reason, or an error is made of every answer.
  return () => ended.abort(null)
}
