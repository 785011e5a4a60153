import { createHash } from 'node:crypto'
import { OutcomeLostError, OutcomeUnstorableError } from '../base/errors.ts'
import type { StoredValue } from '../record/record.ts'
import { PART_BYTES, type Store } from '../record/store.ts'

/** The most parts one value may have. 60 parts hold three of Lambda's largest responses, uncompressed. */
const MAX_PARTS = 60

/** A value that is too large for the record, cut into the parts that have to be written first. */
export interface Split {
  readonly parts: readonly Uint8Array[]
  readonly length: number
  readonly sha256: string
}

/** @throws OutcomeUnstorableError when the value is too large even in parts. */
export function split(bytes: Uint8Array): Split {
  const count = Math.ceil(bytes.length / PART_BYTES)
  if (count > MAX_PARTS) {
    throw new OutcomeUnstorableError(
      `The outcome cannot be stored: compressed it has ${bytes.length} bytes, at most ${MAX_PARTS * PART_BYTES} are possible. Store it elsewhere and return a reference.`,
    )
  }
  return {
    parts: Array.from({ length: count }, (_, index) => bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES)),
    length: bytes.length,
    sha256: sha256Of(bytes),
  }
}

/** @throws OutcomeLostError when a part is missing or is not what was written. */
export async function readParts(
  store: Pick<Store, 'getParts'>,
  pointer: Extract<StoredValue, { kind: 'parts' }>,
): Promise<Uint8Array> {
  const parts = await store.getParts(pointer.partsId, pointer.count)
  const found: Uint8Array[] = []
  for (const part of parts) if (part !== undefined) found.push(part)
  if (found.length !== pointer.count) {
    throw new OutcomeLostError(
      `${pointer.count - found.length} of ${pointer.count} parts of a stored outcome are missing. It is neither replayed nor run again.`,
    )
  }
  const bytes = Buffer.concat(found)
  if (bytes.length !== pointer.length || sha256Of(bytes) !== pointer.sha256) {
    throw new OutcomeLostError('The parts of a stored outcome are damaged. It is neither replayed nor run again.')
  }
  return bytes
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url')
}
