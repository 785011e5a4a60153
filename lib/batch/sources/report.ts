import type { FailedRecord, Identifier } from './source.ts'

/** Each identifier once, in the order of the event: a repeated one makes Lambda fail the batch. */
export function eachOnce(failed: readonly FailedRecord[]): readonly Identifier[] {
  return [...new Set(failed.map(({ identifier }) => identifier))]
}

/**
 * The lowest identifier of each group: a stream is read again from there, whatever else is named, so the others would
 * say nothing.
 */
export function lowestOfGroup(positionOf: (identifier: Identifier) => bigint): typeof eachOnce {
  return (failed) => {
    const lowest = new Map<string | undefined, Identifier>()
    for (const { identifier, group } of failed) {
      const there = lowest.get(group)
      if (there === undefined || positionOf(identifier) < positionOf(there)) lowest.set(group, identifier)
    }
    return [...lowest.values()]
  }
}
