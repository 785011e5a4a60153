import type { Reported } from './report.ts'

/** Follows operations over time, as a tracer does. What it throws is dropped: watching never changes an outcome. */
export interface Tracing {
  /** A delivery asks for an operation; its claim comes next. */
  begin(delivery: { readonly namespace: string; readonly operationId: string }): Trace
}

/** One delivery of an operation that is followed, from before its claim until its last word. */
export interface Trace {
  /** Where this execution is found: a W3C `traceparent`. It is kept in the record, for later deliveries to point at. */
  readonly context: string | undefined
  /** Something happened in this delivery. */
  saw(event: Reported): void
  /**
   * A part of it begins: calls `run` at once, where what the part does is to be seen as its own. `run` answers as the
   * part does. Nobody waits for what this answers.
   */
  within(part: TracedPart, run: () => Promise<unknown>): unknown
  /** `error`: what the work threw, if it did. */
  end(how: TraceEnd, thrown?: { readonly error: unknown }): void
}

/** A part of an execution. */
export type TracedPart =
  /** The handler, or whatever else the operation protects. Not told of Middy's middlewares, which do not call it. */
  | { readonly kind: 'work' }
  | {
      readonly kind: 'step'
      readonly name: string
      /** Whether it is over without its work being called: an earlier attempt has recorded it. */
      isRecalled(): boolean
    }
  | { readonly kind: 'commit' }

/** What came of a delivery. */
export type TraceEnd =
  | 'completed'
  | 'failed'
  | 'resumable'
  | 'released'
  | 'unknown'
  | 'replay'
  | 'outcome-lost'
  | 'mismatch'
  | 'waiting'
  | 'in-progress'
  | 'store-unavailable'
  | 'suspended'
  /** Nothing was written; the lease decides. */
  | 'kept'
  | 'unrecorded'
  | 'unprotected'
  | 'lease-lost'
  /** A part of the engine threw. */
  | 'broken'
