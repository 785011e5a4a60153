import { movesFrom } from './moves.ts'
import { ALL } from './protocol.ts'
import { type Bounds, idle, isEnded, nameOf, type Program, type State } from './state.ts'

/** What a search has found. */
export interface Found {
  readonly states: number
  readonly transitions: number
  /** The first state that breaks an invariant, with the shortest way there. */
  readonly violation: { readonly invariant: string; readonly way: readonly string[] } | undefined
}

/** Walks through every state that workers, messages, faults and time can bring about, breadth first. */
export function search(bounds: Bounds): Found {
  const { program, protections: by = ALL } = bounds
  const first: State = {
    now: 0,
    record: undefined,
    workers: Array.from({ length: bounds.workers }, () => idle(0)),
    wire: [],
    completions: 0,
    effects: 0,
    commits: 0,
  }
  const cameFrom = new Map<string, readonly [string, string] | undefined>([[nameOf(first), undefined]])
  let frontier: (readonly [string, State])[] = [[nameOf(first), first]]
  let transitions = 0

  while (frontier.length > 0) {
    const next: (readonly [string, State])[] = []
    for (const [name, state] of frontier) {
      const moves = movesFrom(state, bounds, by)
      if (moves.length === 0 && !isEnded(state)) return found(name, 'somebody can always go on')
      for (const [label, after] of moves) {
        transitions++
        const key = nameOf(after)
        if (cameFrom.has(key)) continue
        cameFrom.set(key, [name, label])
        const invariant = brokenIn(state, after, program)
        if (invariant !== undefined) return found(key, invariant)
        next.push([key, after])
      }
    }
    frontier = next
  }
  return { states: cameFrom.size, transitions, violation: undefined }

  function found(name: string, invariant: string): Found {
    const way: string[] = []
    for (let at = cameFrom.get(name); at !== undefined; at = cameFrom.get(at[0])) way.unshift(at[1])
    return { states: cameFrom.size, transitions, violation: { invariant, way } }
  }
}

function brokenIn(before: State, after: State, program: Program): string | undefined {
  if (after.completions > 1) return 'no two completions of one operation'
  if (after.commits > 1) return 'committed writes are there exactly once'
  if (program === 'stop' && after.effects > 1) return 'an at-most-once step never runs twice'
  const [was, is] = [before.record, after.record]
  if (was?.outcome !== undefined && is?.outcome !== was.outcome) return 'a stored outcome never changes'
  if (was?.status === 'UNKNOWN' && is?.status !== 'UNKNOWN') return 'unknown is never left'
  if (was !== undefined && is !== undefined && is.attempt < was.attempt) return 'fences rise with every claim'
  if (was?.steps.s === 'done' && is?.steps.s !== 'done') return 'a recorded step survives'
  return undefined
}
