import type { Chance } from './chance.ts'

/** Something that will happen at a virtual time. */
interface Happening {
  readonly atMs: number
  /** Decides between happenings of the same time. */
  readonly tie: number
  readonly run: () => void
  /** Whose continuation it is. It is dropped when that process is dead, and put off while it is frozen. */
  readonly process: Suspendable | undefined
}

/** What can be killed or frozen between two happenings. */
export interface Suspendable {
  readonly isDead: boolean
  readonly frozenUntilMs: number
}

/** The one place that decides what happens next. Time is virtual: it jumps to the next happening. */
export interface Scheduler {
  /** The true time, in ms. No process sees it: each has a clock of its own. */
  readonly nowMs: number
  /** How many happenings there were. */
  readonly count: number
  after(ms: number, run: () => void, process?: Suspendable): void
  /** Lets happenings happen, one by one with all their microtasks, until `isOver` or the time is up. */
  run(isOver: () => boolean, untilMs: number): Promise<'over' | 'time-up' | 'nothing-left'>
}

export function createScheduler(chance: Chance, startMs: number): Scheduler {
  const heap: Happening[] = []
  let nowMs = startMs
  let count = 0

  const isBefore = (one: Happening, other: Happening) =>
    one.atMs < other.atMs || (one.atMs === other.atMs && one.tie < other.tie)

  function push(happening: Happening): void {
    let at = heap.push(happening) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(heap[at]!, heap[above]!)) return
      ;[heap[at], heap[above]] = [heap[above]!, heap[at]!]
      at = above
    }
  }

  function pop(): Happening | undefined {
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      if (left >= heap.length) return first
      const child = left + 1 < heap.length && isBefore(heap[left + 1]!, heap[left]!) ? left + 1 : left
      if (!isBefore(heap[child]!, heap[at]!)) return first
      ;[heap[at], heap[child]] = [heap[child]!, heap[at]!]
      at = child
    }
  }

  return {
    get nowMs() {
      return nowMs
    },
    get count() {
      return count
    },
    after(ms, run, process) {
      push({ atMs: nowMs + Math.max(0, ms), tie: chance.next(), run, process })
    },
    async run(isOver, untilMs) {
      while (!isOver()) {
        const next = pop()
        if (next === undefined) return 'nothing-left'
        if (next.atMs > untilMs) return 'time-up'
        nowMs = Math.max(nowMs, next.atMs)
        if (next.process?.isDead) continue
        if (next.process !== undefined && next.process.frozenUntilMs > nowMs) {
          push({ ...next, atMs: next.process.frozenUntilMs, tie: chance.next() })
          continue
        }
        count++
        next.run()
        // All that follows from it without waiting is done before anything else happens.
        await new Promise((resolve) => setImmediate(resolve))
      }
      return 'over'
    },
  }
}
