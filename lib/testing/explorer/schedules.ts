/** What goes wrong at a point. */
export type Fault =
  /** The process dies when this has happened: nothing of it is heard again. */
  | 'crash'
  /** It has happened, and its caller sees a time-out. */
  | 'answer-lost'
  /** The store cannot be reached, from this call on until the invocation ends. */
  | 'unreachable'
  /** Another copy of the event is delivered, to another process, and runs to its end meanwhile. */
  | 'overlap'

/** Something that a process does to the outside: a store call, or an effect. */
export interface Point {
  /** Counted over all deliveries of a sequence. */
  readonly index: number
  readonly delivery: number
  readonly kind: 'store' | 'effect'
  /** In words, such as `the recording of step "charge"`. */
  readonly what: string
}

/** Which points go wrong, and how. */
export type Schedule = ReadonlyMap<number, Fault>

export const NO_FAULT: Schedule = new Map()

const STORE_FAULTS: readonly Fault[] = ['crash', 'answer-lost', 'unreachable', 'overlap']
const EFFECT_FAULTS: readonly Fault[] = ['crash', 'answer-lost', 'overlap']

/**
 * Every schedule with one fault more, at a later point of what has happened under this one. A crash before a point is the
 * one after the point before it: nothing outside differs. Crashes come first, as they say the most.
 */
export function* withOneMore(schedule: Schedule, trace: readonly Point[]): Generator<Schedule> {
  const lastIndex = Math.max(-1, ...schedule.keys())
  for (const fault of STORE_FAULTS) {
    for (const { index, kind } of trace) {
      const possible = kind === 'store' ? STORE_FAULTS : EFFECT_FAULTS
      if (index > lastIndex && possible.includes(fault)) yield new Map([...schedule, [index, fault]])
    }
  }
}
