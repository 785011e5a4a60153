import { isSameRequest } from '../record/fingerprint.ts'

/** What a record's place in the batch depends on. */
export interface Placed {
  /** Records of one group are run one after another. `undefined`: in any order. */
  readonly group: string | undefined
  /** The operation, when one can be made of the record. */
  readonly operation: Asking | undefined
}

interface Asking {
  readonly id: string
  readonly fingerprint: string
  /** The continuation that the record is. */
  readonly continuationId?: string
}

/** What a record has to wait for; both name earlier records by their index, so no two can wait for each other. */
export interface Turn {
  /** The record before it in its group: when that fails, this one is not started. */
  readonly behind?: number
  /** An earlier record of the same operation: the same request follows its result, another one is claimed after it. */
  readonly repeats?: { readonly index: number; readonly isSameRequest: boolean }
}

/** Orders a batch. With `fifo: 'batch'` all groups are one. */
export function planTurns(batch: readonly Placed[], fifo: 'group' | 'batch'): readonly Turn[] {
  const lastOfGroup = new Map<string, number>()
  const byOperation = new Map<string, (Asking & { readonly index: number })[]>()

  return batch.map(({ group, operation }, index) => {
    const lane = group === undefined ? undefined : fifo === 'batch' ? '' : group
    const behind = lane === undefined ? undefined : lastOfGroup.get(lane)
    if (lane !== undefined) lastOfGroup.set(lane, index)
    if (operation === undefined) return { ...(behind !== undefined && { behind }) }

    const earlier = byOperation.get(operation.id) ?? []
    // A continuation has to be looked at itself: it may be the one that keeps the operation going.
    const same = earlier.find(
      ({ fingerprint, continuationId }) =>
        isSameRequest(fingerprint, operation.fingerprint) && continuationId === operation.continuationId,
    )
    const repeated = same ?? earlier.at(-1)
    byOperation.set(operation.id, [...earlier, { ...operation, index }])
    return {
      ...(behind !== undefined && { behind }),
      ...(repeated !== undefined && { repeats: { index: repeated.index, isSameRequest: same !== undefined } }),
    }
  })
}
