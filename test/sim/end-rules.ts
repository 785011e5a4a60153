import type { Asker } from './client.ts'
import type { RecipeName } from './plan.ts'
import type { Truth } from './truth.ts'
import type { World } from './world.ts'

/** The steps with effects that each recipe has had when it is completed. */
const EFFECTS: Readonly<Record<RecipeName, readonly string[]>> = {
  plain: [],
  keyed: ['charge', 'second'],
  stop: ['mail'],
  probe: ['mail'],
  horizon: ['charge'],
  commit: ['commit'],
  conflict: ['commit'],
  delay: ['charge'],
  wait: ['asked', 'charge'],
  errors: [],
  parallel: ['one', 'other'],
  extend: ['charge'],
}

/** Says what is left when the time is up. */
export function judgeStuck({ judge, committedMessages, downstream }: World, askers: readonly Asker[]): void {
  const waiting = askers.filter(({ isDone }) => !isDone).map(({ order }) => order.key)
  const unsent = [...committedMessages].filter((id) => !downstream.has(id))
  if (unsent.length > 0) judge.broken('no lost message', `${unsent.length} of a commit were never sent`)
  const records = judge.truths.map(({ last }) => `${last?.status} attempt ${last?.attempt}`)
  judge.broken(
    'no operation is stuck for ever',
    `waiting for ${waiting.join(', ') || 'nobody'}; records: ${records.join(', ')}`,
  )
}

/** What must hold when everything is quiet. */
export async function judgeEnd(world: World): Promise<void> {
  for (const truth of world.judge.truths) await judgeOperation(world, truth)
}

async function judgeOperation(
  { plan, judge, table, downstream, committedMessages }: World,
  truth: Truth,
): Promise<void> {
  const { id, last, era, isDeleted } = truth
  if (last?.status !== 'COMPLETED' || isDeleted) return
  const isSettled = last.outcome?.kind === 'value' && table.pieces.textOf(last.outcome.value).includes('settled')
  if (isSettled) return
  for (const step of EFFECTS[plan.recipe]) {
    // A provider that honours the key has no second effect in a later era.
    if (!truth.effects.some((effect) => effect.step === step)) {
      judge.broken('a completed operation has its effect', `${step} is missing`)
    }
  }
  const receipts = await table.memory.listBeside(id, 'receipt#')
  if (last.commitId !== undefined) {
    const isThere = receipts.some(({ sk }) => sk.includes(last.token))
    if (!isThere) judge.broken('a receipt for every completed effect', `commit of ${last.token}`)
    if (truth.commits.filter((commit) => commit.era === era).length !== 1) {
      judge.broken('committed writes are there exactly once', 'the record is committed, and the writes are missing')
    }
  }
  if (plan.recipe === 'keyed') {
    const isThere = receipts.some(({ attributes }) => attributes.step === 'charge')
    if (!isThere) judge.broken('a receipt for every completed effect', 'charge')
  }
  for (const messageId of downstream.keys()) {
    if (!committedMessages.has(messageId)) judge.broken('no lost message', `${messageId} was sent, and never committed`)
  }
}
