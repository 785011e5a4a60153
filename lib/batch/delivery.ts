import type { Context, SQSRecord } from 'aws-lambda'
import { InvalidEventError, InvalidInputError, isLambdaOnceError } from '../core/errors.ts'
import type { OperationRequest } from '../core/execution.ts'
import { refusePromise } from '../core/guards.ts'
import { normalizeScope, operationId, type Scope } from '../core/identity.ts'
import { requestIdOf } from '../core/invocation.ts'
import type { Rejection } from '../core/ports.ts'
import type { RequestParts } from '../core/request.ts'
import { type Reading, readBody } from './body.ts'
import { continued, redriveOf } from './continuation.ts'
import type { BatchRecord, BatchSettings } from './options.ts'

/** A record as it was delivered, and what it asks for. Computed once: handlers may change the record. */
export type Delivery<B> = {
  readonly source: SQSRecord
  readonly identifier: string | undefined
  readonly group: string | undefined
} & (Request<B> | Refused)

interface Request<B> {
  readonly kind: 'request'
  readonly record: BatchRecord<B>
  /** What is asked for, without the deadline, which is known only when it starts. */
  readonly operation: OperationRequest
}

/** No operation can be made of it. The id stands for the record in events, and is the same in every delivery. */
interface Refused {
  readonly kind: 'refused'
  readonly why: Rejection
  readonly error: unknown
  readonly id: string
  readonly operation: undefined
}

/**
 * Reads every record by itself, so that a bad one does not take its neighbours along.
 *
 * @throws InvalidOptionError when key or scope is made of the invocation's request id, or an option is async that may
 * not be: that is no fault of a record's
 */
export function readDeliveries<B>(
  settings: BatchSettings<B>,
  records: readonly SQSRecord[],
  context: Context,
): Promise<readonly Delivery<B>[]> {
  return Promise.all(records.map((record) => readDelivery(settings, record, context)))
}

async function readDelivery<B>(settings: BatchSettings<B>, raw: SQSRecord, context: Context): Promise<Delivery<B>> {
  const { source, engine } = settings
  const identifier = source.identifier(raw)
  const common = { source: raw, identifier, group: source.group(raw) }
  const { namespace } = engine.settings
  const refused = ({ why, error }: { readonly why: Rejection; readonly error: unknown }): Delivery<B> => ({
    ...common,
    kind: 'refused',
    why,
    error,
    operation: undefined,
    id: operationId(namespace, ['refused'], identifier ?? ''),
  })

  if (identifier === undefined) {
    return refused({ why: 'identifier', error: new InvalidEventError('The record has no messageId.') })
  }
  const body = await readBody(settings, raw)
  if (body.kind === 'refused') return refused(body)
  const record: BatchRecord<B> = { ...raw, body: body.value, rawBody: raw.body }

  const key = reading('key', () => (settings.key === undefined ? source.key(raw) : settings.key(record, context)))
  if (key.kind === 'refused') return refused(key)
  const given = reading('scope', () => scopeGiven(settings, record, raw, context))
  if (given.kind === 'refused') return refused(given)
  const scope = reading('scope', () => namingScope(given.value))
  if (scope.kind === 'refused') return refused(scope)
  const fingerprint = reading('fingerprint', () => fingerprintFrom(settings, record))
  if (fingerprint.kind === 'refused') return refused(fingerprint)

  const parts: RequestParts = {
    key: key.value,
    scope: scope.value,
    fingerprint: fingerprint.value,
    contract: 'retry',
    requestId: requestIdOf(context),
  }
  try {
    const asked = engine.request(parts)
    const operation = { ...asked, ...redriveOf(settings, raw, asked.key), ...continued(namespace, raw) }
    return { ...common, kind: 'request', record, operation }
  } catch (error) {
    if (isLambdaOnceError(error, 'INVALID_OPTION')) throw error
    return refused({ why: isLambdaOnceError(error, 'INVALID_INPUT') ? 'fingerprint' : 'key', error })
  }
}

/** What an option gives for the record. */
function reading<T>(option: 'key' | 'scope' | 'fingerprint', read: () => T): Reading<T> {
  let value: T
  try {
    value = read()
  } catch (error) {
    return { kind: 'refused', why: option, error }
  }
  refusePromise(option, [value].flat())
  return { kind: 'read', value }
}

function scopeGiven<B>(
  { scope, source }: BatchSettings<B>,
  record: BatchRecord<B>,
  raw: SQSRecord,
  context: Context,
): Scope {
  if (scope === undefined) return source.scope(raw)
  return typeof scope === 'function' ? scope(record, context) : scope
}

function namingScope(given: Scope): readonly string[] {
  const parts = normalizeScope(given)
  if (parts.some((part) => part !== '')) return parts
  throw new InvalidInputError(
    'scope(record) must name who asks; it gave nothing, and all would share their operations.',
  )
}

function fingerprintFrom<B>({ fingerprint }: BatchSettings<B>, record: BatchRecord<B>): RequestParts['fingerprint'] {
  if (fingerprint === false) return false
  return fingerprint === undefined ? { text: record.rawBody } : { value: fingerprint(record) }
}
