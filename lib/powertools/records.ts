import { InvalidOptionError, isLambdaOnceError, MismatchError, NoEffectError, RetryLater } from '../base/errors.ts'
import { show } from '../base/guards.ts'
import type { Operation } from '../operation/operation.ts'
import { isSuspension } from '../operation/suspension.ts'
import { type Asked, decidePrevious, type Previous } from './item.ts'
import { powertoolsHash } from './key.ts'
import { type PowertoolsRecordsOptions, resolveOptions } from './options.ts'
import { type PowertoolsTable, powertoolsTable } from './table.ts'

/** The records that another version of a function keeps by Powertools. Made by {@link powertoolsRecords}. */
export interface PowertoolsRecords<P> {
  /**
   * Does the work of an operation, unless the other version has done it or is doing it: to be called in the work, before
   * anything else.
   * Work that gives up has to throw, as with `NoEffectError`: what it returns counts as done for the other version, after
   * `operation.release()`, too.
   *
   * @param payload - what Powertools was given: the event, the record, or the argument that it hashed
   * @returns what the work returns, or what the other version has stored
   * @throws RetryLater when the other version is at it, or its table cannot be reached: the work did not run, and a later
   * delivery tries again
   * @throws NoEffectError when the other version did it for another payload (`statusCode` 422, the cause is a
   * MismatchError), or when the record is none of Powertools: the key is released, since the first request may come again
   */
  during<T>(operation: Pick<Operation, 'id'>, payload: P, work: () => T | PromiseLike<T>): Promise<T>
}

/** How often an id that is free again is asked for anew. */
const MAX_ROUNDS = 3

/**
 * Keeps the promises of `@aws-lambda-powertools/idempotency` (TypeScript) while a function moves from it to lambda-once,
 * with both versions running.
 *
 * @example
 * const previous = powertoolsRecords<Order>({ tableName: 'idempotency', key: (order) => order.id })
 * await idempotency.run({ key: order.id, input: order }, (operation) =>
 *   previous.during(operation, order, () => charge(order)),
 * )
 *
 * @throws InvalidOptionError naming the option, what was expected and what came
 */
export function powertoolsRecords<P = unknown>(options: PowertoolsRecordsOptions<P>): PowertoolsRecords<P> {
  const settings = resolveOptions(options)
  const { keyPrefix, hashFunction, validation, clock, names } = settings
  const table = powertoolsTable(settings)

  return Object.freeze({
    async during<T>(operation: Pick<Operation, 'id'>, payload: P, work: () => T | PromiseLike<T>): Promise<T> {
      if (typeof operation?.id !== 'string' || typeof work !== 'function') {
        throw new InvalidOptionError(
          `during(operation, payload, work) takes the running operation and a function; got ${show(operation)} and ${show(work)}.`,
        )
      }
      const selected = settings.key(payload) ?? undefined
      // Powertools does not protect what has no key.
      if (selected === undefined) return work()
      const id = `${keyPrefix}#${powertoolsHash(hashFunction, selected)}`
      const validated = validation && powertoolsHash(hashFunction, validation(payload) ?? null)
      const asked = () => ({
        operation: operation.id,
        nowMs: clock.now(),
        ...(validated !== undefined && { validation: validated }),
      })
      const previous = await takeOver(id, asked)
      switch (previous.kind) {
        case 'answered':
          return previous.value as T
        case 'mismatch':
          throw otherPayload()
        case 'unreadable':
          throw new NoEffectError(`The record in "${settings.tableName}" is none of Powertools: ${previous.why}.`)
        case 'in-progress':
          throw new RetryLater(
            'Another version of the function, with Powertools, is at this operation. Try again later.',
          )
        case 'free':
          throw new RetryLater('The record of Powertools keeps changing. Try again later.')
        case 'occupied':
          return work()
        case 'taken':
          return completed(table, id, operation.id, await work())
      }
    },
  })

  async function takeOver(id: string, asked: () => Asked): Promise<Previous | { readonly kind: 'taken' }> {
    for (let round = 1; ; round++) {
      const now = asked()
      const answer = await table.take(id, now.operation, now.validation).catch(untilLater)
      if (answer.isTaken) return { kind: 'taken' }
      const previous = decidePrevious(answer.item, names, now)
      if (previous.kind !== 'free' || round === MAX_ROUNDS) return previous
    }
  }
}

/** The work has not begun, so that whatever ails the table, a later delivery may try again. */
function untilLater(error: unknown): never {
  if (!isLambdaOnceError(error, 'STORE')) throw error
  throw new RetryLater(`The records of Powertools cannot be used, so nothing was done: ${error.message}`, {
    cause: error,
  })
}

/** Released, not stored as this operation's failure: the request that the other version answered may be repeated here. */
function otherPayload(): NoEffectError {
  const cause = new MismatchError()
  return Object.assign(new NoEffectError(cause.message, { cause }), { statusCode: 422 })
}

/**
 * Tells the other version how it ended. That this fails changes nothing for this version, and the other one refuses the
 * operation as if it were still running: it is never done twice for it.
 */
async function completed<T>(table: PowertoolsTable, id: string, operation: string, value: T): Promise<T> {
  if (!isSuspension(value)) await table.complete(id, operation, value).catch(() => undefined)
  return value
}
