import { isLambdaOnceError, StoreError } from '../../base/errors.ts'
import { backOff } from '../../outcome/persist.ts'
import { countsAsAbsent, type OperationRecord } from '../../record/record.ts'
import type { GroupPacing, WriteAnswer } from '../../record/store.ts'
import { type GroupedWrite, type GroupRequests, MAX_GROUP } from './writes.ts'

/** A write that somebody waits for. */
export interface Due {
  readonly write: GroupedWrite
  /** The same write as a request of its own. */
  readonly alone: () => Promise<WriteAnswer>
  readonly resolve: (answer: WriteAnswer | Promise<WriteAnswer>) => void
  readonly reject: (error: unknown) => void
}

/** How often what was refused for now is sent again before that is the answer: as often as the SDK does it with one. */
const MAX_REPETITIONS = 2

/** How what is due is sent. Neither way rejects. */
export interface GroupSending {
  /** Sends it in the requests that are returned, few, and sees to it that each write gets the answer it would get alone. */
  readonly send: (due: readonly Due[]) => readonly Promise<void>[]
  /** Reads what may stand against it, and goes on with what nothing stands against. */
  readonly look: (due: readonly Due[], goOn: (free: readonly Due[]) => Promise<unknown>) => Promise<void>
}

export function groupSending(requests: GroupRequests, pacing: GroupPacing): GroupSending {
  let underway = 0
  const isOver = () => pacing.clock.now() >= pacing.giveUpAtMs

  function send(due: readonly Due[], repetition = 0): Promise<void>[] {
    const groups = groupsOf(due, SIDE_BY_SIDE - underway)
    return groups.map((group) => answering(group, sendGroup(group, repetition)))
  }

  async function sendGroup(group: readonly Due[], repetition: number): Promise<void> {
    if (group.length === 1) return goAlone(group)
    let answers: Awaited<ReturnType<GroupRequests['write']>>
    underway++
    try {
      answers = await requests.write(group.map(({ write }) => write))
    } catch (error) {
      return doubt(group, error)
    } finally {
      underway--
    }
    // Which answer is missing, or too many, nobody can tell: none of them is sure to be that of its write.
    if (answers.length !== group.length) {
      const counts = `${answers.length} answers to ${group.length} statements`
      return doubt(group, new StoreError(`DynamoDB gave ${counts} of a batch.`, { retryable: true }))
    }
    const again: Due[] = []
    const codes = new Set<string>()
    const alone: Due[] = []
    const refused: Due[] = []
    for (const [index, due] of group.entries()) {
      const answer = answers[index]
      switch (answer?.kind) {
        case undefined:
          due.reject(new StoreError('DynamoDB left out the answer to a statement of a batch.', { retryable: true }))
          break
        case 'applied':
          due.resolve({ applied: true })
          break
        case 'again':
          again.push(due)
          codes.add(answer.code)
          break
        case 'alone':
          alone.push(due)
          break
        case 'refused':
          if (answer.existing === undefined) refused.push(due)
          else if (stands(due.write, answer.existing)) due.resolve({ applied: false, existing: answer.existing })
          else alone.push(due)
      }
    }
    // What stood against a write is not always in its answer.
    await Promise.all([goOnAlone(alone), look(refused, goAlone), repeat(again, codes, repetition)])
  }

  async function look(due: readonly Due[], goOn: (free: readonly Due[]) => Promise<unknown>): Promise<void> {
    if (due.length === 0) return
    const ids = new Set(due.map(({ write }) => write.id))
    let found: ReadonlyMap<string, OperationRecord>
    try {
      found = await requests.read([...ids], pauseToRead)
    } catch (error) {
      return doubt(due, error)
    }
    const free: Due[] = []
    // An insert would be refused by what counts as absent, too.
    const replacing: Due[] = []
    for (const one of due) {
      const existing = found.get(one.write.id)
      if (existing === undefined) free.push(one)
      else if (stands(one.write, existing)) one.resolve({ applied: false, existing })
      else replacing.push(one)
    }
    // Whoever waited has been told that it failed, and a claim that nobody knows of would keep all others out.
    if (isOver()) return doubt([...free, ...replacing], tooLate())
    await Promise.all([goAlone(replacing), goOn(free)])
  }

  /** A claim that nobody waits for any more would keep all others out. */
  async function goOnAlone(group: readonly Due[]): Promise<void> {
    const late = isOver() ? group.filter(({ write }) => isClaim(write)) : []
    for (const { reject } of late) reject(tooLate())
    await goAlone(group.filter((due) => !late.includes(due)))
  }

  /** What becomes of writes of which nobody knows whether they were carried out, or that were refused as a whole. */
  async function doubt(group: readonly Due[], error: unknown): Promise<void> {
    // Which of them is to blame, or what else is wrong, each can only find out by itself. What was written all the same it
    // finds there, under its own token.
    if (!isLambdaOnceError(error, 'STORE') || !error.retryable) return goOnAlone(group)
    for (const { reject } of group) reject(error)
  }

  async function pauseToRead(round: number): Promise<void> {
    await backOff(pacing, round)
    if (isOver()) throw tooLate()
  }

  async function repeat(again: readonly Due[], codes: ReadonlySet<string>, repetition: number): Promise<void> {
    if (again.length === 0) return
    if (repetition < MAX_REPETITIONS) {
      await backOff(pacing, repetition)
      if (!isOver()) {
        await Promise.all(send(again, repetition + 1))
        return
      }
    }
    const why = [...codes].join(', ')
    for (const { reject } of again) {
      reject(new StoreError(`DynamoDB refused a statement of a batch again and again: ${why}.`, { retryable: true }))
    }
  }

  return { send, look: (due, goOn) => answering(due, look(due, goOn)) }
}

/** Whatever goes wrong, whoever waits is told; who was answered before stays answered. */
async function answering(due: readonly Due[], sending: Promise<void>): Promise<void> {
  try {
    await sending
  } catch (error) {
    for (const { reject } of due) reject(error)
  }
}

function tooLate(): StoreError {
  return new StoreError('The invocation was over before a write of a batch could go on.', {
    retryable: true,
  })
}

/** An insert, or a takeover. */
function isClaim(write: GroupedWrite): boolean {
  return write.kind === 'insert' || write.change.token !== undefined
}

async function goAlone(group: readonly Due[]): Promise<void> {
  const calls = group.map(({ alone, resolve }) => {
    const call = alone()
    resolve(call)
    return call
  })
  await Promise.allSettled(calls)
}

/** Whether the record keeps the write from being applied. An insert knows no records that count as absent. */
function stands(write: GroupedWrite, existing: OperationRecord): boolean {
  return write.kind === 'update' || !countsAsAbsent(existing, write.moment)
}

/** Fewer than these are not worth a request of their own. */
const MIN_GROUP = 5

/** Requests that are sent at the same time, where one would do: no statement of one waits for those of the other. */
export const SIDE_BY_SIDE = 2

/** Never two writes on one record in the same: such a request is refused as a whole. */
function groupsOf(due: readonly Due[], wanted: number): readonly (readonly Due[])[] {
  const count = Math.max(Math.ceil(due.length / MAX_GROUP), Math.min(wanted, Math.floor(due.length / MIN_GROUP)))
  const size = Math.ceil(due.length / count)
  const groups: Map<string, Due>[] = []
  for (const one of due) {
    const { id } = one.write
    const group = groups.find((others) => others.size < size && !others.has(id))
    if (group === undefined) groups.push(new Map([[id, one]]))
    else group.set(id, one)
  }
  return groups.map((group) => [...group.values()])
}
