import type { Chance } from './chance.ts'

/** A message as far as its order goes. */
export interface InGroup {
  readonly group: string
  readonly visibleAtMs: number
  readonly isDeleted: boolean
}

/**
 * What one receive of a FIFO queue brings: the first messages of groups of which none is under way, in their order.
 * @param messages - all of the queue, in the order in which they were sent
 */
export function nextOfGroups<M extends InGroup>(
  messages: readonly M[],
  { nowMs, most, chance }: { readonly nowMs: number; readonly most: number; readonly chance: Chance },
): readonly M[] {
  const groups = Map.groupBy(
    messages.filter(({ isDeleted }) => !isDeleted),
    ({ group }) => group,
  )
  const free = [...groups.values()].filter((group) => group.every(({ visibleAtMs }) => visibleAtMs <= nowMs))
  const first = free.length > 1 ? chance.between(0, free.length - 1) : 0
  return [...free.slice(first), ...free.slice(0, first)].flat().slice(0, most)
}

/** The first message that should have been dealt with before this one, and was not. */
export function overtaken<M extends InGroup>(messages: readonly M[], message: M, isDealtWith: (m: M) => boolean) {
  const before = messages.slice(0, messages.indexOf(message))
  return before.find((one) => one.group === message.group && !one.isDeleted && !isDealtWith(one))
}
