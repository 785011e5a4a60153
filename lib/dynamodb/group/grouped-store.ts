import type { GroupPacing, RecordChange, Store, WriteAnswer } from '../../record/store.ts'
import { createLane } from './lane.ts'
import { type Due, groupSending, SIDE_BY_SIDE } from './sending.ts'
import { type GroupedWrite, type GroupRequests, MAX_GROUP } from './writes.ts'

/** The longest that an ending waits for another one to come back, in ms: a request that hangs must not hold up others. */
const LONGEST_WAIT_MS = 20

/**
 * The store of one invocation that works on many records. Claims that are made in one turn of the event loop share
 * requests, and so do endings; a claim waits for nothing, an ending for those before it. What comes alone goes alone.
 * Claims that are likely to be refused are looked for first, all in one read.
 */
export function groupedStore(plain: Store, requests: GroupRequests, pacing: GroupPacing): Store {
  const { send, look } = groupSending(requests, pacing)
  const claims = createLane(send)
  const doubtfulClaims = createLane<Due>((due) => [look(due, (free) => Promise.all(send(free)))])
  const endings = createLane(send, {
    clock: pacing.clock,
    atMostMs: LONGEST_WAIT_MS,
    full: MAX_GROUP,
    sideBySide: SIDE_BY_SIDE,
  })

  function together(
    lane: (due: Due) => void,
    write: GroupedWrite,
    alone: () => Promise<WriteAnswer>,
  ): Promise<WriteAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<WriteAnswer>()
    lane({ write, alone, resolve, reject })
    return promise
  }

  return Object.freeze({
    ...plain,
    put(record, condition) {
      if (condition.kind !== 'absent') return plain.put(record, condition)
      const { isLikelyTaken, ...absent } = condition
      const write = { kind: 'insert', id: record.id, record, moment: absent.moment } as const
      return together(isLikelyTaken ? doubtfulClaims : claims, write, async () => plain.put(record, absent))
    },
    update(id, change, condition) {
      const alone = async () => plain.update(id, change, condition)
      const act = actOf(change)
      if (condition.kind !== 'seen' || act === 'other') return alone()
      const lane = act === 'takeover' ? claims : endings
      return together(lane, { kind: 'update', id, change, seen: condition }, alone)
    },
  } satisfies Store)
}

/** Steps, renewals and suspensions come in the middle of somebody's work, which waits for them. */
function actOf({ status, token, step }: RecordChange): 'takeover' | 'ending' | 'other' {
  if (step !== undefined || status === 'WAITING') return 'other'
  if (status !== 'IN_PROGRESS') return 'ending'
  return token === undefined ? 'other' : 'takeover'
}
