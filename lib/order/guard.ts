import { systemClock } from '../base/clock.ts'
import { InvalidOptionError } from '../base/errors.ts'
import { refuseUnknown, secondsOption, show } from '../base/guards.ts'
import type { Clock } from '../base/ports.ts'

/** A version. Numbers are ordered by value, strings by their UTF-8 bytes: "10" comes before "9". */
export type Version = number | bigint | string

/** What a write is guarded by. */
export interface OrderGuard {
  /** The top-level attribute that holds the item's version. The guard writes it; your write leaves it out. */
  readonly attribute: string
  /** The version of this write. All versions of an item are numbers, or all are strings. */
  readonly value: Version
  /**
   * How long a deleted item's version is remembered, in seconds: longer than the latest possible late write.
   * @defaultValue for ever
   */
  readonly tombstoneSeconds?: number
  /**
   * The table's TTL attribute, which `tombstoneSeconds` is written to.
   * @defaultValue 'expiresAt'
   */
  readonly ttlAttribute?: string
  /** @defaultValue the system's clock */
  readonly clock?: Clock
}

/** A guard after validation. */
export interface ResolvedGuard {
  readonly attribute: string
  readonly value: Version
  /** When a tombstone may be deleted, in seconds since 1970, under the table's TTL attribute. */
  readonly ttl: { readonly attribute: string; readonly expiresAt: number } | undefined
}

/** The attribute, with the value `true`, by which a deleted item is known. */
export const TOMBSTONE_ATTRIBUTE = 'tombstone'

/** @throws InvalidOptionError naming the option, what was expected and what came. */
export function resolveGuard(guard: OrderGuard): ResolvedGuard {
  if (typeof guard !== 'object' || guard === null) {
    throw new InvalidOptionError(`An order guard is { attribute, value }; got ${show(guard)}.`)
  }
  refuseUnknown('ifNewer', guard, ['attribute', 'value', 'tombstoneSeconds', 'ttlAttribute', 'clock'])
  const { value, clock = systemClock } = guard
  const attribute = attributeName('attribute', guard.attribute)
  checkVersion(value)
  if (typeof clock.now !== 'function') throw new InvalidOptionError(`clock must have now(); got ${show(clock)}.`)
  const ttlAttribute = attributeName('ttlAttribute', guard.ttlAttribute ?? 'expiresAt')
  const seconds = secondsOption('tombstoneSeconds', guard.tombstoneSeconds, 1)
  if (new Set([attribute, ttlAttribute, TOMBSTONE_ATTRIBUTE]).size < 3) {
    throw new InvalidOptionError(
      `attribute, ttlAttribute and "${TOMBSTONE_ATTRIBUTE}" must be three attributes; got "${attribute}" and "${ttlAttribute}".`,
    )
  }
  return {
    attribute,
    value,
    ttl:
      seconds === undefined
        ? undefined
        : { attribute: ttlAttribute, expiresAt: Math.ceil(clock.now() / 1000 + seconds) },
  }
}

function attributeName(option: string, name: unknown): string {
  if (typeof name === 'string' && name.trim() !== '') return name
  throw new InvalidOptionError(`${option} must be the name of a top-level attribute; got ${show(name)}.`)
}

function checkVersion(value: unknown): void {
  if (typeof value === 'bigint' || (typeof value === 'string' && value !== '' && value.isWellFormed())) return
  // Beyond 2^53 two versions can round to one number, and the newer of them would count as stale.
  if (typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return
  throw new InvalidOptionError(
    `value must be a version: a number up to 2^53, a bigint, or a well-formed string that is not empty; got ${show(value)}.`,
  )
}
