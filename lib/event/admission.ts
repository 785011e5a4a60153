import type { Context } from 'aws-lambda'
import { InvalidOptionError } from '../base/errors.ts'
import { remainingTimeMs, requestIdOf } from '../base/invocation.ts'
import type { Claim } from '../engine/claim.ts'
import type { RequestParts } from '../engine/request.ts'
import type { Scope } from '../record/identity.ts'
import type { EventSettings } from './options.ts'
import type { EventParts } from './source.ts'

/**
 * Claims the operation that an event asks for: event → key, scope and fingerprint → claim. `undefined`: there is nothing
 * to do in the event.
 *
 * @throws InvalidEventError when the event is not of the source; MissingKeyError, InvalidKeyError, InvalidInputError when
 * no operation can be made of it; InvalidOptionError when an option gives what no repetition could come with. Nothing
 * was claimed
 */
export async function admitEvent<E>(
  settings: EventSettings<E>,
  event: unknown,
  context: Context,
): Promise<Claim | undefined> {
  const { engine, source, key, redrive } = settings
  const parts = source.read(event, context)
  if (parts === undefined) return undefined
  const isNamedByInvocation = key === undefined && source.isInvocation
  const request = engine.request({
    key: key === undefined ? parts.key() : key(parts.event, context),
    scope: scopeOf(settings, parts, context),
    fingerprint: fingerprintOf(settings, parts),
    contract: 'retry',
    remainingMs: remainingTimeMs(context),
    requestId: isNamedByInvocation ? undefined : requestIdOf(context),
    redrive: redrive && { target: redrive, payload: event, atClaim: true },
  })
  return engine.claim(request)
}

function scopeOf<E>({ scope }: EventSettings<E>, parts: EventParts<E>, context: Context): Scope {
  if (scope === undefined) return parts.scope
  if (typeof scope !== 'function') return scope
  const given = scope(parts.event, context)
  if ([given].flat().some(Boolean)) return given
  throw new InvalidOptionError(
    'scope(event, context) must name who asks, or all callers would share their results; it gave nothing.',
  )
}

function fingerprintOf<E>(
  { fingerprint }: EventSettings<E>,
  { event, fingerprint: own }: EventParts<E>,
): RequestParts['fingerprint'] {
  if (fingerprint === undefined) return own
  return fingerprint === false ? false : { value: fingerprint(event) }
}
