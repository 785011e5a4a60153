import type { About, LiveView, OneOperation } from '../console/wire.ts'

/** What is asked for in the list. */
export interface Filter {
  readonly states: readonly string[]
  readonly namespace: string
  readonly find: string
  readonly scope: readonly string[]
  readonly most: number
}

/** All that the page shows. */
export interface PageState {
  about?: About
  view?: LiveView
  connection: 'connecting' | 'live' | 'lost' | 'ended'
  filter: Filter
  /** Seconds between readings; 0: when somebody says so. */
  every: number
  windowSeconds: number
  /** The operation that is open, or that is looked for. */
  chosen?: string
  one?: OneOperation
  /** Why it cannot be shown. */
  oneProblem?: string
  /** What the last act came to. */
  done?: { readonly text: string; readonly isProblem: boolean }
  /** Why the page cannot work. */
  problem?: string
  /** Why a button did nothing. */
  demoProblem?: string
}

export const ROWS = 50

/** A page that has just been opened. */
export function newState(): PageState {
  return {
    connection: 'connecting',
    filter: { states: [], namespace: '', find: '', scope: [], most: ROWS },
    every: 0,
    windowSeconds: 300,
  }
}

/** What a page does when somebody acts. */
export interface Actions {
  filter(change: Partial<Filter>): void
  every(seconds: number): void
  window(seconds: number): void
  read(): void
  lookUp(query: URLSearchParams): void
  close(): void
  act(act: OneOperation['acts'][number]): void
  play(action: string): void
}
