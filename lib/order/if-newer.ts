import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import { type OrderGuard, type ResolvedGuard, resolveGuard, TOMBSTONE_ATTRIBUTE, type Version } from './guard.ts'
import { withActions, writtenPaths } from './update-expression.ts'
import { checkWrite, type GuardedWrite, type PutMember, type UpdateMember, type Write } from './write.ts'

/**
 * Turns a write into one that applies only when the stored version is absent or lower, and that stores its own.
 * Your ConditionExpression has to hold as well. A Delete becomes a Put of a tombstone: the key, the version and
 * `tombstone: true`, so that a late older write does not bring the item back.
 *
 * Newest wins the whole item: an update that arrives late is dropped, so each one has to carry all that it may change.
 * An Update does not apply to a tombstone; {@link applyIfNewer} sees to that case, in a transaction of your own use a Put.
 *
 * @throws InvalidOptionError when the guard is wrong, or the write sets the version itself
 */
export function ifNewer(write: Write, guard: OrderGuard): GuardedWrite {
  checkWrite(write)
  return guarded(write, resolveGuard(guard), undefined)
}

/** A deleted item's remains, which an update may be applied to. */
export interface Tombstone {
  readonly version: Version
  /** What it has besides its key, version and mark: a time to live, or nothing. */
  readonly remains: readonly string[]
}

/** The guarded write; with a tombstone, an update that applies to exactly that one and clears it away. */
export function guarded(write: Write, guard: ResolvedGuard, over: Tombstone | undefined): GuardedWrite {
  if ('Update' in write) return { Update: guardedUpdate(write.Update, guard, over) }
  if ('Put' in write) return { Put: guardedPut(write.Put, guard) }
  const { Key, ...rest } = write.Delete
  refuseKey(Key, guard)
  const ttl = guard.ttl && { [guard.ttl.attribute]: guard.ttl.expiresAt }
  const Item = { ...Key, [guard.attribute]: guard.value, [TOMBSTONE_ATTRIBUTE]: true, ...ttl }
  return { Put: conditional({ ...rest, Item }, guard) }
}

function guardedPut(put: PutMember, guard: ResolvedGuard): PutMember {
  const { attribute, value } = guard
  const own: unknown = put.Item?.[attribute]
  if (own !== undefined && own !== value) {
    throw new InvalidOptionError(
      `The guard writes "${attribute}", but Put.Item has another value there: ${show(own)}. Leave it out, or make it equal.`,
    )
  }
  if (put.Item !== undefined && Object.hasOwn(put.Item, TOMBSTONE_ATTRIBUTE)) throw reserved(TOMBSTONE_ATTRIBUTE)
  return conditional({ ...put, Item: { ...put.Item, [attribute]: value } }, guard)
}

function guardedUpdate(update: UpdateMember, guard: ResolvedGuard, over: Tombstone | undefined): UpdateMember {
  const { UpdateExpression = '', Key, ExpressionAttributeNames: names = {} } = update
  refuseKey(Key, guard)
  const written = writtenPaths(UpdateExpression).map((path) => names[path] ?? path)
  for (const own of [guard.attribute, TOMBSTONE_ATTRIBUTE]) if (written.includes(own)) throw reserved(own)

  const alias = aliasesFor(update)
  const version = alias.name('version', guard.attribute)
  const mine = alias.value('version', guard.value)
  const mark = alias.name('tombstone', TOMBSTONE_ATTRIBUTE)
  const remains = over?.remains.filter((attribute) => !written.includes(attribute)) ?? []
  const removed = over ? [mark, ...remains.map((attribute) => alias.name('remains', attribute))] : []
  const condition = over
    ? `attribute_exists(${mark}) AND ${version} = ${alias.value('tombstone', over.version)}`
    : `${newer(version, mine)} AND attribute_not_exists(${mark})`
  const setting = withActions(UpdateExpression, 'SET', [`${version} = ${mine}`])
  return {
    ...alias.applied(condition),
    UpdateExpression: withActions(setting, 'REMOVE', removed),
  }
}

function conditional(put: PutMember, guard: ResolvedGuard): PutMember {
  const alias = aliasesFor(put)
  return alias.applied(newer(alias.name('version', guard.attribute), alias.value('version', guard.value)))
}

/** A comparison with an attribute of another type is false, so a mixed type never passes. */
function newer(name: string, value: string): string {
  return `(attribute_not_exists(${name}) OR ${name} < ${value})`
}

function refuseKey(key: Readonly<Record<string, unknown>> | undefined, guard: ResolvedGuard): void {
  for (const attribute of [guard.attribute, TOMBSTONE_ATTRIBUTE, guard.ttl?.attribute]) {
    if (attribute !== undefined && Object.hasOwn(key ?? {}, attribute)) {
      throw new InvalidOptionError(`The guard writes "${attribute}", which is part of the item's key.`)
    }
  }
}

function reserved(attribute: string): InvalidOptionError {
  return new InvalidOptionError(`The guard writes "${attribute}" by itself: leave it out of your write.`)
}

/** What every kind of write may carry. */
interface Conditional {
  ConditionExpression?: string | undefined
  UpdateExpression?: string | undefined
  ExpressionAttributeNames?: Record<string, string> | undefined
  ExpressionAttributeValues?: Record<string, unknown> | undefined
}

/** Names and values of the guard's own, none of which the write uses already. */
function aliasesFor<T extends Conditional>(write: T) {
  const { ConditionExpression, UpdateExpression = '' } = write
  const names = { ...write.ExpressionAttributeNames }
  const values: Record<string, unknown> = { ...write.ExpressionAttributeValues }
  const text = `${UpdateExpression} ${ConditionExpression}`
  const free = (wanted: string, taken: object): string => {
    const isTaken = Object.hasOwn(taken, wanted) || text.includes(wanted)
    return isTaken ? free(`${wanted}_`, taken) : wanted
  }
  return {
    name(word: string, attribute: string): string {
      const alias = free(`#newer_${word}`, names)
      names[alias] = attribute
      return alias
    },
    value(word: string, value: unknown): string {
      const placeholder = free(`:newer_${word}`, values)
      values[placeholder] = value
      return placeholder
    },
    applied(condition: string): T {
      return {
        ...write,
        ConditionExpression: ConditionExpression ? `(${ConditionExpression}) AND ${condition}` : condition,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }
    },
  }
}
