import { deserialize, serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import type { OperationRecord } from '../record/record.ts'
import type { Known } from './usable.ts'

/** What a process remembers of a table, within bounds: what was not asked for longest is forgotten first. */
export interface Remembered {
  record(id: string): Known | undefined
  keepRecord(record: OperationRecord, atMs: number): void
  forgetRecord(id: string): void
  parts(partsId: string, count: number): readonly Uint8Array[] | undefined
  keepParts(partsId: string, parts: readonly Uint8Array[]): void
}

interface StoredParts {
  readonly parts: readonly Uint8Array[]
}

/** As bytes, so that nobody can change what is remembered, and its size is known. */
interface StoredRecord {
  readonly bytes: Uint8Array
  readonly atMs: number
}

/** Records and the pieces of large outcomes share the bounds. */
export function createRemembered(bounds: { readonly maxEntries: number; readonly maxBytes: number }): Remembered {
  const cache = new LRUCache<string, StoredRecord | StoredParts>({
    max: bounds.maxEntries,
    maxSize: bounds.maxBytes,
    sizeCalculation: (entry, name) =>
      name.length + ('bytes' in entry ? entry.bytes.length : entry.parts.reduce((sum, { length }) => sum + length, 0)),
  })
  const nameOf = (kind: 'record' | 'parts', id: string): string => `${kind} ${id}`

  return {
    record(id) {
      const entry = cache.get(nameOf('record', id))
      // Of a copy, since lists of bytes in it are read as a part of the whole. What was serialized here is a record.
      return entry && 'bytes' in entry
        ? { record: deserialize(Uint8Array.from(entry.bytes)) as OperationRecord, atMs: entry.atMs }
        : undefined
    },
    keepRecord(record, atMs) {
      cache.set(nameOf('record', record.id), { bytes: serialize(record), atMs })
    },
    forgetRecord(id) {
      cache.delete(nameOf('record', id))
    },
    parts(partsId, count) {
      const entry = cache.get(nameOf('parts', partsId))
      return entry && 'parts' in entry && entry.parts.length === count ? entry.parts : undefined
    },
    keepParts(partsId, parts) {
      // An empty list has no size, which an entry must have; nobody asks for it.
      if (parts.length > 0) cache.set(nameOf('parts', partsId), { parts })
    },
  }
}
