import type { ModelCondition, ModelRecord, Protections } from './protocol.ts'

/** What the handler does. */
export type Program =
  /** Returns a value. */
  | 'plain'
  /** One step that must not run twice: mark, effect, record, and then the value. */
  | 'stop'
  /** Completes together with its own writes. */
  | 'commit'
  /** Its first attempt gives the lease up; later ones return a value. */
  | 'resume'

export const PROGRAMS: readonly Program[] = ['plain', 'resume', 'commit', 'stop']

/** The bounds of a search. Within them it leaves nothing out. */
export interface Bounds {
  readonly program: Program
  readonly workers: number
  /** Deliveries that each worker gets: after the first one was answered or has crashed, the next one comes. */
  readonly deliveries: number
  /** How far time goes; a lease lasts two ticks. */
  readonly ticks: number
  /** How many writes may be given up and still be on their way. */
  readonly late: number
  readonly protections?: Protections
}

/** Where a worker is. What it has sent and not heard of lies on the wire. */
export type Place =
  | 'idle'
  | 'claiming'
  | 'taking'
  | 'marking'
  | 'acting'
  | 'recording'
  | 'ending'
  | 'unknown-ending'
  | 'over'

export interface Worker {
  readonly place: Place
  readonly delivery: number
  readonly attempt: number
  readonly rev: number
  /** How often this claim has tried to take over. */
  readonly rounds: number
}

/** A write on its way. `isHeard`: its worker still waits for the answer. */
export interface Write {
  readonly worker: number
  readonly token: string
  readonly isHeard: boolean
  readonly condition: ModelCondition
  readonly to: Partial<ModelRecord> & { readonly commits?: true }
}

export interface State {
  readonly now: number
  readonly record: ModelRecord | undefined
  readonly workers: readonly Worker[]
  readonly wire: readonly Write[]
  /** What has happened, beyond the record. */
  readonly completions: number
  readonly effects: number
  readonly commits: number
}

export type Move = readonly [label: string, state: State]

export const idle = (delivery: number): Worker => ({ place: 'idle', delivery, attempt: 0, rev: 0, rounds: 0 })

/** Every delivery was answered or has crashed. What nobody waits for any more may never arrive. */
export function isEnded({ workers }: State): boolean {
  return workers.every(({ place }) => place === 'over')
}

/** A state in few characters: millions of them have to fit into memory. */
export function nameOf({ now, record, workers, wire, completions, effects, commits }: State): string {
  const it = record === undefined ? '' : recordName(record)
  const at = workers.map(({ place, delivery, attempt, rev, rounds }) => `${place}${delivery}${attempt}${rev}${rounds}`)
  const on = wire.map(({ token, isHeard, condition, to }) => {
    const asks =
      condition.kind === 'absent'
        ? condition.now
        : condition.kind === 'seen'
          ? `${condition.token}.${condition.rev}`
          : condition.token
    return `${token}${isHeard ? '!' : '?'}${asks}>${recordName(to)}${to.commits ? 'c' : ''}`
  })
  return `${now}|${it}|${at.join()}|${on.sort().join()}|${completions}${effects}${commits}`
}

const recordName = ({ status, token, rev, attempt, leaseUntil, steps, outcome }: Partial<ModelRecord>) =>
  [status?.slice(0, 3), token, rev, attempt, leaseUntil, steps?.s, outcome].join('.')
