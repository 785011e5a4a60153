/** What the buttons of the demo do; the console of a real table has none of them. */
export const DEMO_ACTIONS = ['send', 'send-five', 'send-again', 'other-body', 'kill-worker', 'pause', 'resume'] as const
export type DemoAction = (typeof DEMO_ACTIONS)[number]

/** One answer that somebody got. */
export interface DemoAnswer {
  /** 0: there was none. */
  readonly status: number
  /** It was answered from the stored outcome. */
  readonly isReplay: boolean
  readonly tookMs: number
  /** When to come again, in seconds, where it says so. */
  readonly retryAfterSeconds?: number
  /** What it says, in a few words. */
  readonly text: string
}

/** One press of a button, and what came of it. */
export interface DemoEntry {
  readonly number: number
  readonly atMs: number
  readonly action: DemoAction
  /** What was done, in a sentence. */
  readonly what: string
  readonly answers: readonly DemoAnswer[]
  /** What it means, in a sentence; while it is undefined, it is not over. */
  readonly result?: string
  readonly operationId?: string
}

/** How the demo stands. */
export interface DemoState {
  /** Why the buttons do nothing yet. */
  readonly notYet?: string
  readonly isPaused: boolean
  /** Why a button cannot work here at all. */
  readonly impossible: Partial<Readonly<Record<DemoAction, string>>>
  /** What is made to go wrong here, so that nobody takes it for a fault. */
  readonly hints: readonly string[]
  /** Newest first. */
  readonly log: readonly DemoEntry[]
}

/** The demo behind a console: a service that is running on this machine. */
export interface Demo {
  state(): DemoState
  /** Begins it; what comes of it is in the log. @throws CliFailure when it cannot be done now */
  act(action: DemoAction): void
  /** What people call an operation that the demo has made. */
  labelOf(operationId: string): string | undefined
}
