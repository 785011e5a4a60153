import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { InvalidOptionError } from '../base/errors.ts'
import { show } from '../base/guards.ts'

type Member = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** The put of a transaction's member, as lib-dynamodb takes it. */
export type PutMember = NonNullable<Member['Put']>
/** The update of a transaction's member, as lib-dynamodb takes it. */
export type UpdateMember = NonNullable<Member['Update']>
/** The delete of a transaction's member, as lib-dynamodb takes it. */
export type DeleteMember = NonNullable<Member['Delete']>

/** A write that can be guarded: what a member of `TransactItems` looks like. */
export type Write = { readonly Put: PutMember } | { readonly Update: UpdateMember } | { readonly Delete: DeleteMember }

/** A guarded write. A Delete has become a Put of its tombstone. */
export type GuardedWrite = { readonly Put: PutMember } | { readonly Update: UpdateMember }

/** @throws InvalidOptionError when it is not exactly one put, update or delete. */
export function checkWrite(write: Write): void {
  const kinds = typeof write === 'object' && write !== null ? Object.keys(write) : []
  const kind = kinds[0]
  if (kinds.length !== 1 || kind === undefined || !['Put', 'Update', 'Delete'].includes(kind)) {
    throw new InvalidOptionError(
      `A guarded write is { Put }, { Update } or { Delete }; got ${kinds.length > 0 ? `{ ${kinds.join(', ')} }` : show(write)}.`,
    )
  }
  const part = kind === 'Put' ? 'Item' : 'Key'
  const content: unknown = Reflect.get(write, kind)
  const holder: unknown = typeof content === 'object' && content !== null ? Reflect.get(content, part) : undefined
  if (typeof holder !== 'object' || holder === null) {
    throw new InvalidOptionError(`${kind}.${part} must be an object of attributes; got ${show(holder)}.`)
  }
}
