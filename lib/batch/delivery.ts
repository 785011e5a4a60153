import type { Context } from 'aws-lambda'
import { InvalidEventError, InvalidInputError, isLambdaOnceError } from '../base/errors.ts'
import { refusePromise } from '../base/guards.ts'
import { requestIdOf } from '../base/invocation.ts'
import type { Rejection } from '../base/ports.ts'
import type { OperationRequest, RequestParts } from '../engine/request.ts'
import { normalizeScope, operationId, type Scope } from '../record/identity.ts'
import type { Content } from '../sources/content.ts'
import { poison, type Reading, readBody } from './body.ts'
import type { BatchRecord } from './options.ts'
import type { BatchSettings } from './settings.ts'
import type { Identifier } from './sources/source.ts'

/** One content of a record as it was delivered, and what it asks for. Computed once: handlers may change the record. */
export type Delivery<B, R> = {
  readonly source: R
  readonly identifier: Identifier | undefined
  readonly group: string | undefined
} & (Request<B, R> | Refused | Empty)

interface Request<B, R> {
  readonly kind: 'request'
  readonly record: BatchRecord<B, R>
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

/** There is nothing to do in the record. */
interface Empty {
  readonly kind: 'empty'
  readonly id: string
  readonly operation: undefined
}

/**
 * Reads every record by itself, so that a bad one does not take its neighbours along.
 *
 * @throws InvalidOptionError when key or scope is made of the invocation's request id, or an option is async that may
 * not be: that is no fault of a record's
 */
export async function readDeliveries<B, R>(
  settings: BatchSettings<B, R>,
  records: readonly R[],
  context: Context,
): Promise<readonly Delivery<B, R>[]> {
  const read = await Promise.all(records.map((record) => readRecord(settings, record, context)))
  return read.flat()
}

/** A content, and its place among those of its record; `undefined` when it is alone. */
interface PlacedContent {
  readonly content: Content
  readonly place: number | undefined
}

async function readRecord<B, R>(
  settings: BatchSettings<B, R>,
  raw: R,
  context: Context,
): Promise<readonly Delivery<B, R>[]> {
  const { source, engine } = settings
  const identifier = source.identifier(raw)
  const common = { source: raw, identifier, group: source.group(raw) }
  const id = operationId(engine.settings.namespace, ['refused'], JSON.stringify(identifier ?? ''))
  const refused = ({ why, error }: Refusal): Delivery<B, R> => ({
    ...common,
    kind: 'refused',
    why,
    error,
    operation: undefined,
    id,
  })
  if (identifier === undefined) {
    const error = new InvalidEventError(`The record of ${source.name} has no identifier to be reported under.`)
    return [refused({ kind: 'refused', why: 'identifier', error })]
  }
  const opened = source.open(raw)
  if (opened.kind === 'refused') return [refused(poison(opened.message))]
  if (opened.contents.length === 0) return [{ ...common, kind: 'empty', id, operation: undefined }]
  const isAlone = opened.contents.length === 1
  return Promise.all(
    opened.contents.map(async (content, index) => {
      const asked = await readContent(settings, raw, { content, place: isAlone ? undefined : index }, context)
      return asked.kind === 'request' ? { ...common, ...asked } : refused(asked)
    }),
  )
}

type Refusal = Extract<Reading<never>, { kind: 'refused' }>

async function readContent<B, R>(
  settings: BatchSettings<B, R>,
  raw: R,
  { content, place }: PlacedContent,
  context: Context,
): Promise<Request<B, R> | Refusal> {
  const { source, engine } = settings
  const body = await readBody(settings, raw, content.text)
  if (body.kind === 'refused') return body
  const record: BatchRecord<B, R> = { ...raw, body: body.value, rawBody: content.text }

  const key = reading('key', () =>
    settings.key === undefined ? source.key(raw, content, place) : settings.key(record, context),
  )
  if (key.kind === 'refused') return key
  const given = reading('scope', () => scopeGiven(settings, record, raw, context))
  if (given.kind === 'refused') return given
  const scope = reading('scope', () => namingScope(given.value))
  if (scope.kind === 'refused') return scope
  const fingerprint = reading('fingerprint', () => fingerprintFrom(settings, record, content))
  if (fingerprint.kind === 'refused') return fingerprint

  const parts: RequestParts = {
    key: key.value,
    scope: scope.value,
    fingerprint: fingerprint.value,
    contract: 'retry',
    requestId: requestIdOf(context),
  }
  try {
    const asked = engine.request(parts)
    const isRedelivered = source.queue?.isRedelivered(raw) === true
    const operation = { ...asked, ...(isRedelivered && { isRedelivered }) }
    return { kind: 'request', record, operation: { ...operation, ...continuable(settings, raw, asked.key, place) } }
  } catch (error) {
    if (isLambdaOnceError(error, 'INVALID_OPTION')) throw error
    return { kind: 'refused', why: isLambdaOnceError(error, 'INVALID_INPUT') ? 'fingerprint' : 'key', error }
  }
}

/** How the operation can be suspended and continued, or why it cannot be. */
function continuable<B, R>(
  { source, redrive, engine }: BatchSettings<B, R>,
  raw: R,
  key: string,
  place: number | undefined,
): Partial<OperationRequest> {
  if (source.queue === undefined) {
    return { mayNotSuspend: `records of ${source.name} are delivered in order, and later ones would overtake it` }
  }
  if (place !== undefined) {
    return { mayNotSuspend: 'its message carries several records, and sent again it would bring all of them' }
  }
  return { ...source.queue.resend(redrive, raw, key), ...source.queue.continued(engine.settings.namespace, raw) }
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

function scopeGiven<B, R>(
  { scope, source }: BatchSettings<B, R>,
  record: BatchRecord<B, R>,
  raw: R,
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

function fingerprintFrom<B, R>(
  { fingerprint }: BatchSettings<B, R>,
  record: BatchRecord<B, R>,
  content: Content,
): RequestParts['fingerprint'] {
  if (fingerprint === undefined) return content.fingerprint
  return fingerprint === false ? false : { value: fingerprint(record) }
}
