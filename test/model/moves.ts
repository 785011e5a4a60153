import { decide, holds, type ModelCondition, type ModelRecord, type Protections } from './protocol.ts'
import { type Bounds, idle, type Move, type Program, type State, type Worker, type Write } from './state.ts'

const LEASE = 2
/** After so many lost races a claim gives up. */
const MAX_ROUNDS = 2
const FINGERPRINT = 'f'
const tokenOf = (worker: number, { delivery }: Worker) => `w${worker}d${delivery}`

/** All that may happen next. */
export function movesFrom(state: State, bounds: Bounds, by: Protections): readonly Move[] {
  const moves: Move[] = []
  for (const [index, worker] of state.workers.entries()) moves.push(...workerMoves(state, index, worker, bounds))
  for (const [index, write] of state.wire.entries()) moves.push(...wireMoves(state, index, write, bounds, by))
  if (state.now < bounds.ticks) moves.push(['time passes', { ...state, now: state.now + 1 }])
  return moves
}

/** What a worker does by itself. */
function workerMoves(state: State, index: number, worker: Worker, bounds: Bounds): readonly Move[] {
  const { place } = worker
  const name = `w${index}`
  if (place === 'over') return []
  const moves: Move[] = []
  if (place === 'idle') {
    const record: ModelRecord = {
      status: 'IN_PROGRESS',
      token: tokenOf(index, worker),
      rev: 1,
      attempt: 1,
      fingerprint: FINGERPRINT,
      leaseUntil: state.now + LEASE,
      expiresAt: Number.MAX_SAFE_INTEGER,
      resumeAt: Number.MAX_SAFE_INTEGER,
      takeover: 'auto',
      steps: {},
      signals: 0,
    }
    moves.push([
      `${name} claims`,
      send(state, index, { ...worker, place: 'claiming' }, { kind: 'absent', now: state.now }, record),
    ])
  } else if (place === 'acting') {
    moves.push([
      `${name} acts`,
      sendHeld(
        { ...state, effects: state.effects + 1 },
        index,
        { ...worker, place: 'recording' },
        { steps: { s: 'done' } },
      ),
    ])
  }
  moves.push([`${name} crashes`, answered(state, index, bounds)])
  return moves
}

/** What the network does with a write: carries it out or loses it, and the answer too. */
function wireMoves(state: State, at: number, write: Write, bounds: Bounds, by: Protections): readonly Move[] {
  const rest: State = { ...state, wire: state.wire.filter((_, index) => index !== at) }
  const name = `w${write.worker}`
  const applied = apply(rest, write, by)
  if (!write.isHeard) return [[`a late write of ${name} arrives`, applied.state]]
  const moves: Move[] = [
    [`${name} is answered`, proceed(applied.state, write, applied.isApplied, state.record, bounds, by)],
    [`${name} is not answered`, lookAgain(applied.state, write, bounds, by)],
    [`a write of ${name} is lost`, lookAgain(rest, write, bounds, by)],
  ]
  if (state.wire.filter(({ isHeard }) => !isHeard).length < bounds.late) {
    const late: State = { ...rest, wire: [...rest.wire, { ...write, isHeard: false }] }
    moves.push([`${name} gives a write up that is still on its way`, lookAgain(late, write, bounds, by)])
  }
  return moves
}

function apply(state: State, { condition, to, token }: Write, by: Protections): { state: State; isApplied: boolean } {
  const { record } = state
  if (!holds(condition, record, by)) return { state, isApplied: false }
  const { commits, ...change } = to
  const written: ModelRecord =
    condition.kind === 'absent'
      ? (change as ModelRecord)
      : { ...(record as ModelRecord), token, ...change, rev: (record?.rev ?? 0) + 1 }
  const isCompleted = change.status === 'COMPLETED'
  return {
    isApplied: true,
    state: {
      ...state,
      record: written,
      completions: state.completions + (isCompleted ? 1 : 0),
      commits: state.commits + (commits ? 1 : 0),
    },
  }
}

/** The worker hears what became of its write. */
function proceed(
  state: State,
  write: Write,
  isApplied: boolean,
  existing: ModelRecord | undefined,
  bounds: Bounds,
  by: Protections,
): State {
  const index = write.worker
  const worker = state.workers[index]
  if (worker === undefined) return state
  if (isApplied)
    return goOn(
      state,
      index,
      { ...worker, rev: state.record?.rev ?? 0, attempt: state.record?.attempt ?? 0 },
      bounds,
      by,
    )
  if (worker.place === 'claiming' || worker.place === 'taking') return meet(state, index, worker, existing, bounds, by)
  return standsAgainst(state, index, worker, existing, bounds, by)
}

/** The answer is lost: one consistent read tells, or nothing is done. */
function lookAgain(state: State, write: Write, bounds: Bounds, by: Protections): State {
  const worker = state.workers[write.worker]
  if (worker === undefined) return state
  if (worker.place === 'claiming' || worker.place === 'taking') {
    return meet(state, write.worker, worker, state.record, bounds, by)
  }
  return standsAgainst(state, write.worker, worker, state.record, bounds, by)
}

/** A claim has met a record: it decides, and may try once more. */
function meet(
  state: State,
  index: number,
  worker: Worker,
  seen: ModelRecord | undefined,
  bounds: Bounds,
  by: Protections,
): State {
  if (seen === undefined) return answered(state, index, bounds)
  const token = tokenOf(index, worker)
  switch (decide(seen, { token, fingerprint: FINGERPRINT }, state.now, by)) {
    case 'claimed':
      return goOn(state, index, { ...worker, rev: seen.rev, attempt: seen.attempt }, bounds, by)
    case 'takeover':
      if (worker.rounds >= MAX_ROUNDS) return answered(state, index, bounds)
      return send(
        state,
        index,
        { ...worker, place: 'taking', rounds: worker.rounds + 1 },
        { kind: 'seen', token: seen.token, rev: seen.rev },
        { status: 'IN_PROGRESS', token, attempt: seen.attempt + 1, leaseUntil: state.now + LEASE },
      )
    default:
      return answered(state, index, bounds)
  }
}

/** A write of a holder was refused, or nobody answered. Its own earlier try is recognised; anything else ends it. */
function standsAgainst(
  state: State,
  index: number,
  worker: Worker,
  existing: ModelRecord | undefined,
  bounds: Bounds,
  by: Protections,
): State {
  const isMine = existing?.token === tokenOf(index, worker) && existing.status === 'IN_PROGRESS'
  if (!isMine || existing === undefined) return answered(state, index, bounds)
  // Its own write is there already, or it is sent once more, on the record as it is now.
  if (existing.rev > worker.rev) return goOn(state, index, { ...worker, rev: existing.rev }, bounds, by)
  return answered(state, index, bounds)
}

/** What comes next in the program after a write that was applied. */
function goOn(state: State, index: number, worker: Worker, { program, ...bounds }: Bounds, by: Protections): State {
  const step = state.record?.steps.s
  switch (worker.place) {
    case 'claiming':
    case 'taking':
      if (program === 'resume' && worker.attempt === 1)
        return sendHeld(state, index, { ...worker, place: 'ending' }, { status: 'RETRYABLE' })
      if (program !== 'stop' || step === 'done') return end(state, index, worker, program)
      if (step === 'started')
        return sendHeld(state, index, { ...worker, place: 'unknown-ending' }, { status: 'UNKNOWN' })
      if (!by.mark) return withWorker(state, index, { ...worker, place: 'acting' })
      return sendHeld(state, index, { ...worker, place: 'marking' }, { steps: { s: 'started' } })
    case 'marking':
      return withWorker(state, index, { ...worker, place: 'acting' })
    case 'recording':
      return end(state, index, worker, program)
    default:
      return answered(state, index, { program, ...bounds })
  }
}

function end(state: State, index: number, worker: Worker, program: Program): State {
  const outcome = tokenOf(index, worker)
  const commits = program === 'commit' && ({ commits: true } as const)
  return sendHeld(state, index, { ...worker, place: 'ending' }, { status: 'COMPLETED', outcome, ...commits })
}

/** The delivery is over, one way or another; the next one may come. */
function answered(state: State, index: number, { deliveries }: Bounds): State {
  const worker = state.workers[index]
  if (worker === undefined) return state
  const delivery = worker.delivery + 1
  const wire = state.wire.map((write) => (write.worker === index ? { ...write, isHeard: false } : write))
  const next: Worker = delivery < deliveries ? idle(delivery) : { ...idle(delivery), place: 'over' }
  return withWorker({ ...state, wire }, index, next)
}

function withWorker(state: State, index: number, worker: Worker): State {
  return { ...state, workers: state.workers.map((one, at) => (at === index ? worker : one)) }
}

function send(state: State, index: number, worker: Worker, condition: ModelCondition, to: Write['to']): State {
  const write: Write = { worker: index, token: tokenOf(index, worker), isHeard: true, condition, to }
  return withWorker({ ...state, wire: [...state.wire, write] }, index, worker)
}

function sendHeld(state: State, index: number, worker: Worker, to: Write['to']): State {
  return send(state, index, worker, { kind: 'seen', token: tokenOf(index, worker), rev: worker.rev }, to)
}
