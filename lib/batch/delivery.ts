import type { Context, SQSRecord } from 'aws-lambda'
import { InvalidEventError, InvalidInputError, InvalidOptionError, isLambdaOnceError } from '../core/errors.ts'
import type { OperationRequest } from '../core/execution.ts'
import { type KeyInput, normalizeScope, operationId } from '../core/identity.ts'
import type { Rejection } from '../core/ports.ts'
import type { RequestParts } from '../core/request.ts'
import { type Reading, readBody } from './body.ts'
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
 * @throws InvalidOptionError when the key is the invocation's request id
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
  refuseRequestId(key.value, context)
  const scope = reading('scope', () => scopeOf(settings, record, raw, context))
  if (scope.kind === 'refused') return refused(scope)
  const fingerprint = reading('fingerprint', () => fingerprintFrom(settings, record))
  if (fingerprint.kind === 'refused') return refused(fingerprint)

  const operation = reading('key', () =>
    engine.request({ key: key.value, scope: scope.value, fingerprint: fingerprint.value, contract: 'retry' }),
  )
  if (operation.kind === 'read') return { ...common, kind: 'request', record, operation: operation.value }
  return refused(isLambdaOnceError(operation.error, 'INVALID_INPUT') ? { ...operation, why: 'fingerprint' } : operation)
}

function reading<T>(why: Rejection, read: () => T): Reading<T> {
  try {
    return { kind: 'read', value: read() }
  } catch (error) {
    return { kind: 'refused', why, error }
  }
}

/** A redelivery comes in another invocation, so the request id would make every delivery a new operation. */
function refuseRequestId(input: KeyInput, context: Context | undefined): void {
  const requestId = context?.awsRequestId
  const parts: readonly unknown[] = Array.isArray(input) ? input : [input]
  if (typeof requestId === 'string' && requestId !== '' && parts.includes(requestId)) {
    throw new InvalidOptionError(
      'key must not give the invocation’s awsRequestId: every delivery has another one. Use a business id of the record.',
    )
  }
}

function scopeOf<B>(
  { scope, source }: BatchSettings<B>,
  record: BatchRecord<B>,
  raw: SQSRecord,
  context: Context,
): readonly string[] {
  const given = scope === undefined ? source.scope(raw) : typeof scope === 'function' ? scope(record, context) : scope
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
