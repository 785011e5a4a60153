import { InvalidEventError } from '../../base/errors.ts'
import { fieldsOf, nonEmpty } from '../../sources/fields.ts'
import { recordsOf } from '../../sources/origin.ts'
import { lowestOfGroup } from './report.ts'

/** A sequence number as it may be reported: digits, by which records of a shard are ordered. */
export function sequenceNumberOf(value: unknown): string | undefined {
  const text = nonEmpty(value)
  return text !== undefined && /^\d+$/.test(text) ? text : undefined
}

/** Of a shard the lowest sequence number is the checkpoint that Lambda reads on from. */
export const reportShards: ReturnType<typeof lowestOfGroup> = /* @__PURE__ */ lowestOfGroup((identifier) =>
  BigInt(identifier as string),
)

/**
 * The list of records of a stream's event.
 * @throws InvalidEventError when it has none, or belongs to a tumbling window
 */
export function streamRecordsOf(served: string, event: unknown): readonly unknown[] {
  const records = recordsOf(served, event)
  if (!('window' in fieldsOf(event))) return records
  throw new InvalidEventError(
    'The event belongs to a tumbling window, whose state is made of all of its batches: no answer per record can make that safe to repeat.',
  )
}
