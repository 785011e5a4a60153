import type { Context } from 'aws-lambda'
import { InvalidOptionError } from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import { fingerprintValue } from '../core/fingerprint.ts'
import { normalizeScope, operationId } from '../core/identity.ts'
import { unprotectedExecution } from '../core/unprotected.ts'
import { problem } from './answer/problems.ts'
import { refusalAnswer } from './answer/refusal.ts'
import type { HttpAnswer } from './answer/wire.ts'
import type { HttpSettings, OperationContext } from './options.ts'
import { type HttpRequest, readRequest, type Shape } from './request/event.ts'
import { fingerprintRequest } from './request/fingerprint.ts'
import { readKey } from './request/key.ts'
import { principalOf } from './request/principal.ts'

/** A request that may run, and all that is needed to end it. Computed once: handlers and parsers change the event. */
export interface Admitted {
  readonly kind: 'admitted'
  readonly event: unknown
  readonly shape: Shape
  readonly execution: Execution
  /** The context to run the handler in. */
  readonly context: OperationContext
  /** ms left until the end of the invocation; `undefined` where no invocation is known. */
  remainingMs(): number | undefined
}

/** A request that needs no protection. */
export interface Bypassed extends Pick<Admitted, 'execution' | 'context'> {
  readonly kind: 'bypassed'
}

/** What comes of a request at the door. */
export type Admission = Admitted | Bypassed | { readonly kind: 'answered'; readonly answer: HttpAnswer }

/**
 * Lets a request in, or answers it: event → key, scope and fingerprint → claim.
 *
 * @throws InvalidEventError when the event is no HTTP request
 * @throws InvalidOptionError when nobody was verified and the options do not say how callers are told apart
 */
export async function admit(settings: HttpSettings, event: unknown, context: Context): Promise<Admission> {
  const request = readRequest(event)
  const { engine } = settings
  const remainingMs = () => remainingTime(context)

  const reading = settings.methods.has(request.method) ? readKey(request.header(settings.header)) : undefined
  if (reading === undefined || (reading.kind === 'missing' && !settings.isKeyRequired)) {
    const execution = operationOfItsOwn(settings)
    return { kind: 'bypassed', execution, context: withOperation(context, execution) }
  }
  if (reading.kind !== 'key') return { kind: 'answered', answer: keyProblem(settings, request, reading) }

  const scope = scopeOf(settings, request, event, context)
  const leftMs = remainingMs()
  const claim = await engine.claim({
    id: operationId(engine.settings.namespace, scope, reading.key),
    key: reading.key,
    fingerprint: settings.fingerprint
      ? fingerprintValue(settings.fingerprint(event))
      : await fingerprintRequest(request),
    contract: 'answer',
    ...(leftMs !== undefined && { deadlineMs: engine.settings.clock.now() + leftMs }),
  })
  if (claim.kind !== 'claimed') {
    return { kind: 'answered', answer: await refusalAnswer(settings, request.shape, event, claim) }
  }
  const { execution } = claim
  return {
    kind: 'admitted',
    event,
    shape: request.shape,
    execution,
    context: withOperation(context, execution),
    remainingMs,
  }
}

/** A request that needs no protection still gets an operation, so that one handler serves both kinds. */
function operationOfItsOwn({ engine: { settings } }: HttpSettings): Execution {
  const key = settings.newId()
  return unprotectedExecution(settings, {
    id: operationId(settings.namespace, ['unprotected'], key),
    key,
    fingerprint: '',
    contract: 'answer',
  })
}

function keyProblem(
  { header }: HttpSettings,
  { shape }: HttpRequest,
  reading: Exclude<ReturnType<typeof readKey>, { kind: 'key' }>,
): HttpAnswer {
  return reading.kind === 'missing'
    ? problem(shape, 'missing-key', {
        detail: `Send a unique value in the ${header} header, and the same one with every repetition.`,
      })
    : problem(shape, 'invalid-key', { detail: `The ${header} header ${reading.why}.` })
}

function scopeOf(settings: HttpSettings, request: HttpRequest, event: unknown, context: Context): readonly string[] {
  if (settings.scope !== undefined) {
    const scope = normalizeScope(settings.scope(event, context))
    if (scope.some((part) => part !== '')) return scope
    throw new InvalidOptionError(
      'scope(event, context) must name who asks; it gave nothing, and all callers would share their results.',
    )
  }
  const route = [request.method, request.path]
  if (settings.anonymous) return route
  const principal = principalOf(request)
  if (principal !== undefined) return [...route, ...principal]
  throw new InvalidOptionError(
    'The gateway has verified no principal for this request, so callers cannot be told apart and a replay could reach the wrong one. Put an authorizer before the function, or set scope: (event) => …, or anonymous: true when it does not matter who asks.',
  )
}

/** Tests, and hosts other than Lambda, give no context or one without a clock. */
function remainingTime(context: Context | undefined): number | undefined {
  if (typeof context?.getRemainingTimeInMillis !== 'function') return undefined
  const leftMs: unknown = context.getRemainingTimeInMillis()
  return typeof leftMs === 'number' && Number.isFinite(leftMs) ? leftMs : undefined
}

/**
 * A copy, with everything the context itself has, accessors such as `callbackWaitsForEmptyEventLoop` included:
 * requests of one process may share a context object, and must not find each other's operation in it.
 */
function withOperation(context: Context | undefined, { operation }: Execution): OperationContext {
  const given = context ?? {}
  return Object.create(Object.getPrototypeOf(given), {
    ...Object.getOwnPropertyDescriptors(given),
    operation: { value: operation, enumerable: true, configurable: true, writable: true },
  })
}
