import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'

const MAX_METADATA_BYTES = 1_000

/** @throws InvalidOptionError when they are no small notes */
export function checkMetadata(metadata: unknown): Readonly<Record<string, string>> | undefined {
  if (metadata === undefined) return undefined
  const entries = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : undefined
  // The SDK reads no item that has a field named "__proto__".
  const isText = entries?.every(
    ([name, value]) => name !== '__proto__' && typeof value === 'string' && value.isWellFormed(),
  )
  if (entries === undefined || !isText || Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA_BYTES) {
    throw new InvalidOptionError(
      `metadata must be an object of strings, none named "__proto__", at most ${MAX_METADATA_BYTES} bytes in all; got ${show(metadata)}.`,
    )
  }
  return Object.fromEntries(entries) as Record<string, string>
}
