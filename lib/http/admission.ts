import type { Context } from 'aws-lambda'
import { InvalidOptionError, isLambdaOnceError } from '../base/errors.ts'
import { contextWith, remainingTimeMs, requestIdOf } from '../base/invocation.ts'
import type { Execution } from '../engine/execution.ts'
import type { OperationRequest } from '../engine/request.ts'
import type { Scope } from '../record/identity.ts'
import { type Asked, type HttpRefusal, refusalAnswer } from './answer/refusal.ts'
import type { HttpAnswer } from './answer/wire.ts'
import type { HttpSettings, OperationContext } from './options.ts'
import { type HttpRequest, readRequest } from './request/event.ts'
import { contentOf } from './request/fingerprint.ts'
import { type KeyReading, readKey, selectedKey } from './request/key.ts'
import { principalOf } from './request/principal.ts'
import { redrivenEvent } from './request/redriven.ts'

/** A request that may run, and all that is needed to end it. Computed once: handlers and parsers change the event. */
export interface Admitted extends Asked {
  readonly kind: 'admitted'
  /** Whether anything is stored of it. */
  readonly isProtected: boolean
  readonly execution: Execution
  /** The context to run the handler in. */
  readonly context: OperationContext
  /** ms left until the end of the invocation; `undefined` where no invocation is known. */
  remainingMs(): number | undefined
}

/** What comes of a request at the door. */
export type Admission = Admitted | { readonly kind: 'answered'; readonly answer: HttpAnswer }

/**
 * Lets a request in, or answers it: event → key, scope and fingerprint → claim.
 *
 * @throws InvalidEventError when the event is no HTTP request
 * @throws InvalidOptionError when nobody was verified and the options do not say how callers are told apart, or when
 * key, scope or fingerprint is none that a repetition could come with
 */
export async function admit(settings: HttpSettings, event: unknown, context: Context): Promise<Admission> {
  const { engine, methods, isKeyRequired } = settings
  const request = readRequest(event)
  const asked: Asked = { event, shape: request.shape }
  const remainingMs = () => remainingTimeMs(context)
  const admitted = (execution: Execution, isProtected: boolean): Admitted => ({
    ...asked,
    kind: 'admitted',
    isProtected,
    execution,
    context: contextWith(context, 'operation', execution.operation),
    remainingMs,
  })
  const answered = async (why: HttpRefusal, operationId?: string): Promise<Admission> => ({
    kind: 'answered',
    answer: await refusalAnswer(settings, asked, why, operationId),
  })

  const reading = methods.has(request.method) ? keyOf(settings, request, event, context) : undefined
  if (reading === undefined || (reading.kind === 'missing-key' && !isKeyRequired)) {
    // It still gets an operation, so that one handler serves both kinds.
    const own = { key: engine.settings.newId(), scope: 'unprotected', fingerprint: false, contract: 'answer' } as const
    return admitted(engine.unprotected(engine.request(own)), false)
  }
  if (reading.kind !== 'key') return answered(reading)

  const { key } = reading
  const scope = scopeOf(settings, request, event, context)
  const requestId = requestIdOf(context)
  const make = (value: unknown) =>
    engine.request({
      key,
      scope,
      fingerprint: { value },
      contract: 'answer',
      remainingMs: remainingMs(),
      requestId,
      redrive: settings.redrive && { target: settings.redrive, payload: redrivenEvent(event as object), atClaim: true },
    })
  let operation: OperationRequest
  try {
    operation = await (settings.fingerprint
      ? make(settings.fingerprint(event))
      : engine.contentForm(contentOf(request), make))
  } catch (error) {
    if (isLambdaOnceError(error, 'INVALID_KEY')) return answered({ kind: 'invalid-key', why: error.message })
    throw error
  }
  const claim = await engine.claim(operation)
  return claim.kind === 'claimed' ? admitted(claim.execution, true) : answered(claim, operation.id)
}

function keyOf({ header, keyFrom }: HttpSettings, request: HttpRequest, event: unknown, context: Context): KeyReading {
  return keyFrom ? selectedKey(() => keyFrom(event, context)) : readKey(request.header(header))
}

function scopeOf(settings: HttpSettings, request: HttpRequest, event: unknown, context: Context): Scope {
  if (settings.scope !== undefined) {
    const scope = settings.scope(event, context)
    if ([scope].flat().some(Boolean)) return scope
    throw new InvalidOptionError('scope(event, context) must name who asks; it gave nothing.')
  }
  const route = [request.method, request.path]
  if (settings.anonymous) return route
  const principal = principalOf(request)
  if (principal !== undefined) return [...route, ...principal]
  throw new InvalidOptionError(
    'The gateway has verified no principal: put an authorizer before the function, or set scope, or anonymous: true.',
  )
}
